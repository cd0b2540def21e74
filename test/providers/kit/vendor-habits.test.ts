import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { allPages } from '../../../src/providers/kit/http/pages.js';
import { pollUntilDone } from '../../../src/providers/kit/http/poll-until-done.js';
import { absoluteRdata } from '../../../src/providers/kit/values/absolute-rdata.js';
import { ProviderError } from '../../../src/providers/provider.js';

describe('a write that goes on after its answer', () => {
  const times = { first: 1, longest: 2, patience: 10_000 };
  const running = (job: string) => job.startsWith('running');

  it('is over when it says so, well or not', async () => {
    const states = ['running 2', 'running 3', 'failed'];
    const asked: string[] = [];
    const look = async (job: string) => {
      asked.push(job);
      return states.shift() as string;
    };
    assert.equal(await pollUntilDone('running 1', running, look, times), 'failed');
    assert.deepEqual(asked, ['running 1', 'running 2', 'running 3']);
    assert.equal(await pollUntilDone('done', running, () => assert.fail('nothing to look at')), 'done');
  });

  it('may be carried out when nobody can look at it, or the time is over first', async () => {
    const refused = () => Promise.reject(new ProviderError('rate_limit', 'later', false));
    const late = { mayHaveApplied: true, late: 'once' };
    await assert.rejects(pollUntilDone('running', running, refused, times), { kind: 'rate_limit', ...late });
    const still = async (job: string) => job;
    const impatient = { ...times, patience: 5 };
    await assert.rejects(pollUntilDone('running', running, still, impatient), { kind: 'unavailable', ...late });
    const bounded = withinDeadline(performance.now() + 5, () => pollUntilDone('running', running, still, times));
    await assert.rejects(bounded, { kind: 'unavailable', ...late });
  });
});

describe('names that are relative to the zone', () => {
  for (const [type, rdata, absolute] of [
    ['CNAME', 'www', 'www.example.com.'],
    ['CNAME', 'a.example.net', 'a.example.net.example.com.'],
    ['CNAME', 'a.example.net.', 'a.example.net.'],
    ['NS', '@', 'example.com.'],
    ['MX', '10 mail', '10 mail.example.com.'],
    ['MX', '0 .', '0 .'],
    ['SRV', '1 2 3 sip', '1 2 3 sip.example.com.'],
    ['HTTPS', '1 . alpn=h2', '1 . alpn=h2'],
    ['HTTPS', '1 web  alpn=h2', '1 web.example.com. alpn=h2'],
    ['NAPTR', '1 2 "s" "a b" "" sip', '1 2 "s" "a b" "" sip.example.com.'],
    ['PTR', 'dot\\.', 'dot\\..example.com.'],
    ['TXT', '"www"', '"www"'],
    ['A', '192.0.2.1', '192.0.2.1'],
    ['MX', '10', '10'],
  ] as const) {
    it(`${type} ${rdata}`, () => assert.equal(absoluteRdata(type, rdata, 'example.com'), absolute));
  }
});

describe('pages', () => {
  it('that are the same again and again are a list that is cut', async () => {
    for (const more of [{ total: 3 }, { next: 1 }, { next: null, total: 3 }]) {
      let asked = 0;
      const same = async () => ({
        entries: [1, 2],
        ...more,
        ...('next' in more && more.next ? { next: ++asked } : {}),
      });
      await assert.rejects(
        allPages((n: number) => n, same),
        { kind: 'unavailable' },
      );
    }
  });
});
