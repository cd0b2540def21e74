import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { changed } from '../../web/src/components/changed.js';
import { toIso, toLocal, zones } from '../../web/src/components/zoned.js';

describe('a form of the console', () => {
  it('sends what was changed in it, and nothing that others may have changed', () => {
    const before = { name: 'a', role: 2, ids: [1, 2], end: null };
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
