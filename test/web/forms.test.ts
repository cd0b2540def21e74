import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { isStale } from '../../web/src/api/stale.js';
import { changed } from '../../web/src/components/changed.js';
import { toIso, toLocal, zones } from '../../web/src/components/zoned.js';

describe('a form of the console', () => {
  it('sends what was changed in it, and nothing that others may have changed', () => {
    const before = { name: 'a', role: 2, ids: [1, 2], end: '' };
    assert.deepEqual(changed({ ...before, name: 'b', ids: [1, 2] }, before), { name: 'b' });
    assert.deepEqual(changed({ ...before, ids: [2, 1], end: 'x' }, before), { ids: [2, 1], end: 'x' });
  });
});

describe('a time in a field', () => {
  it('is by the clock of the zone of the profile, whatever the zone of the browser is', () => {
    assert.equal(toLocal('2026-07-01T22:30:00.000Z', 'Europe/Berlin'), '2026-07-02T00:30');
    assert.equal(toLocal('2026-01-01T00:00:00.000Z', 'America/New_York'), '2025-12-31T19:00');
    assert.equal(toIso('2026-07-02T00:30', 'Europe/Berlin'), '2026-07-01T22:30:00.000Z');
    assert.equal(toIso('2025-12-31T19:00', 'America/New_York'), '2026-01-01T00:00:00.000Z');
    assert.equal(toIso('2026-01-01T05:45', 'Asia/Kathmandu'), '2026-01-01T00:00:00.000Z');
    for (const zone of ['UTC', 'Asia/Shanghai', 'Australia/Lord_Howe', 'Pacific/Apia'])
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 37 * 3_600_000) {
        const iso = new Date(at).toISOString();
        assert.equal(toIso(toLocal(iso, zone), zone), iso, zone);
      }
  });

  it('is the first one where the clock shows it twice, and a later one where the clock skips it', () => {
    assert.equal(toIso('2026-10-25T02:30', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z');
    assert.equal(toIso('2026-03-29T02:30', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z');
  });

  it('is none while it is half typed', () => {
    assert.equal(toIso('', 'UTC'), '');
    assert.equal(toLocal('', 'UTC'), '');
    assert.equal(toLocal(null), '');
  });

  it('may be by UTC, which browsers do not list', () => assert.equal(zones()[0], 'UTC'));
});

describe('what is shown', () => {
  const of = (address: string, init: object = {}) => ['get', address, init, 'list'];
  const domain = '/api/domains/{domain_id}';
  const change = { domain_id: 7 };

  it('is read anew where the domain of an event is shown, and not where another one is', () => {
    for (const init of [{ params: { path: { domain_id: '7' } } }, { path: { domain_id: 7 } }, { domain: 7 }]) {
      assert.equal(isStale(of(`${domain}/records`, init), 'records.changed', change), true, JSON.stringify(init));
      assert.equal(isStale(of(`${domain}/records`, init), 'records.changed', { domain_id: 8 }), false);
      assert.equal(isStale(of(`${domain}/records`, init), 'records.synced', { domain_id: 8 }), false);
    }
    assert.equal(isStale(of('/api/domains'), 'records.synced', change), true);
    assert.equal(isStale(of('/api/accounts'), 'records.synced', change), false);
    assert.equal(isStale(of(`${domain}/records`, { domain: 7 }), 'reset', {}), true);
  });

  it('asks no server out there because of an event', () => {
    const init = { params: { path: { domain_id: '7' } } };
    for (const path of ['health', 'records/{record_id}/propagation'])
      assert.equal(isStale(of(`${domain}/${path}`, init), 'records.changed', change), false, path);
  });
});
