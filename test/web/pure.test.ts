import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { asCurl, shownBody } from '../../web/src/api/calls.js';
import { framesOf } from '../../web/src/api/frames.js';
import { relative } from '../../web/src/components/relative.js';
import { safeBack } from '../../web/src/session/safe-back.js';

describe('the console shows a call of the API', () => {
  const call = { id: 1, status: null, path: "/api/records?keyword=it's", body: null };

  it('as a command, which a shell takes as it is meant', () => {
    assert.equal(
      asCurl({ ...call, method: 'GET' }, 'https://dns.example.com'),
      `curl 'https://dns.example.com/api/records?keyword=it'\\''s' -H "Authorization: Bearer $TOKEN"`,
    );
    assert.equal(
      asCurl({ ...call, method: 'POST', path: '/api/x', body: '{"a":"$HOME"}' }, 'http://h'),
      `curl -X POST 'http://h/api/x' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"a":"$HOME"}'`,
    );
  });

  it('without what may be secret, however deep it lies', () => {
    const body = { name: 'a', password: 'p1', credentials: { api: { user: 'p2' } }, list: [{ client_secret: 'p3' }] };
    const shown = shownBody(JSON.stringify(body)) ?? '';
    assert.doesNotMatch(shown, /p[123]/);
    assert.deepEqual(JSON.parse(shown).name, 'a');
    assert.equal(shownBody(''), null);
    assert.equal(shownBody('no JSON: secret'), null);
  });
});

describe('the console reads the event stream', () => {
  it('also where a frame comes in two parts, or has several lines', () => {
    const first = framesOf('id: 1\nevent: ready\ndata: {}\n\n: still there\n\nid: 2\nevent: a\nda');
    assert.deepEqual(first.frames, [{ id: '1', event: 'ready', data: '{}' }, { data: '' }]);
    const second = framesOf(`${first.rest}ta: x\ndata: y\n\n`);
    assert.deepEqual(second, { frames: [{ id: '2', event: 'a', data: 'x\ny' }], rest: '' });
  });
});

describe('the console goes back after the sign-in', () => {
  it('to its own screens only', () => {
    for (const path of ['/domains?keyword=a', '/', '/plans/3']) assert.equal(safeBack(path), path);
    for (const path of [
      undefined,
      '',
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/sign-in?back=/',
      '/setup',
    ])
      assert.equal(safeBack(path), '/', path);
  });
});

describe('the console says how long ago a time is', () => {
  it('in the largest unit that fits, in both languages', () => {
    const now = Date.parse('2026-11-25T12:00:00.000Z');
    const words = (iso: string, language = 'en') => relative(iso, now, language);
    assert.equal(words('2026-11-25T11:59:40.000Z'), 'now');
    assert.equal(words('2026-11-25T11:57:00.000Z'), '3 minutes ago');
    assert.equal(words('2026-11-27T12:00:00.000Z'), 'in 2 days');
    assert.equal(words('2025-11-20T12:00:00.000Z'), 'last year');
    assert.equal(words('2026-11-25T11:57:00.000Z', 'zh'), '3分钟前');
  });
});
