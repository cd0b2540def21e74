import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { mostWithin } from '../../src/administration/audit/rules.service.js';
import { ChainKeys, isSigned } from '../../src/audit/chain.js';
import { csvCell } from '../../src/platform/common/csv.js';
import { dayOf, dayStart } from '../../src/platform/common/time-zone.js';

const iso = (day: string, zone: string, later = 0) => new Date(dayStart(day, zone, later)).toISOString();

describe('days of a time zone', () => {
  it('begin at midnight, or at the first moment after a midnight that is skipped', () => {
    const DAYS: [string, string, string][] = [
      ['2026-01-15', 'UTC', '2026-01-15T00:00:00.000Z'],
      ['2026-01-15', 'Europe/Berlin', '2026-01-14T23:00:00.000Z'],
      ['2026-07-15', 'Europe/Berlin', '2026-07-14T22:00:00.000Z'],
      ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
      ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
      ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
      ['2026-01-15', 'Pacific/Kiritimati', '2026-01-14T10:00:00.000Z'],
      ['2026-01-15', 'Pacific/Niue', '2026-01-15T11:00:00.000Z'],
      ['2026-01-15', 'Asia/Kathmandu', '2026-01-14T18:15:00.000Z'],
      // clocks went from midnight to 01:00
      ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
      ['2024-03-31', 'Asia/Beirut', '2024-03-30T22:00:00.000Z'],
    ];
    for (const [day, zone, start] of DAYS) {
      assert.equal(iso(day, zone), start, `${day} ${zone}`);
      assert.equal(dayOf(Date.parse(start), zone), day);
      assert.notEqual(dayOf(Date.parse(start) - 1, zone), day);
    }
  });

  it('follow each other without gaps', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Pacific/Apia'])
      for (let day = Date.UTC(2026, 2, 20); day < Date.UTC(2026, 3, 10); day += 86_400_000) {
        const name = new Date(day).toISOString().slice(0, 10);
        const next = new Date(day + 86_400_000).toISOString().slice(0, 10);
        assert.equal(iso(name, zone, 1), iso(next, zone), `${name} ${zone}`);
      }
    assert.equal(iso('2026-03-01', 'UTC', -1), '2026-02-28T00:00:00.000Z');
  });
});

describe('cells of a spreadsheet', () => {
  it('hold no formula', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '＝1', '%0a=1', '|x'])
      assert.match(csvCell(text), /^"'/, JSON.stringify(text));
  });

  it('keep harmless values as they are', () => {
    assert.equal(csvCell('a "b", c\nd'), '"a ""b"", c\nd"');
    assert.equal(csvCell({ a: '=1' }), '"{""a"":""=1""}"');
    assert.deepEqual([csvCell(null), csvCell(undefined), csvCell(-5), csvCell('')], ['', '', '-5', '""']);
  });
});

describe('the largest count within a window', () => {
  const at = (seconds: number, count = 1) => ({ created_at: new Date(seconds * 1000).toISOString(), count });
  const newestFirst = (...times: ReturnType<typeof at>[]) => times.reverse();

  it('is found at any position', () => {
    assert.equal(mostWithin([], 60_000), 0);
    assert.equal(mostWithin(newestFirst(at(0), at(1), at(2), at(100), at(200)), 60_000), 3);
    assert.equal(mostWithin(newestFirst(at(0), at(100), at(130), at(160), at(200)), 60_000), 3);
    assert.equal(mostWithin(newestFirst(at(0), at(60)), 60_000), 2);
    assert.equal(mostWithin(newestFirst(at(0), at(60.001)), 60_000), 1);
  });

  it('counts the occurrences that an entry stands for', () => {
    assert.equal(mostWithin(newestFirst(at(0), at(10, 40), at(100, 5)), 60_000), 41);
  });
});

describe('keys of the audit log', () => {
  const ends = { seq: 7, hash: 'ab', start_seq: null, start_hash: null, unsealed_seq: 0 };

  it('sign the given ends, and nothing else', () => {
    const keys = new ChainKeys('secret');
    const signature = keys.sign(ends);
    assert.ok(keys.signs(ends, signature));
    assert.ok(keys.signs({ ...ends, start_seq: 1, start_hash: '' }, signature), 'as a checkpoint says it');
    for (const more of [{ seq: 6 }, { hash: 'ac' }, { start_seq: 2 }, { start_hash: 'x' }, { unsealed_seq: 7 }])
      assert.equal(keys.signs({ ...ends, ...more }, signature), false);
    assert.equal(keys.signs(ends, null), false);
    assert.equal(new ChainKeys('other').signs(ends, signature), false);
    assert.ok(isSigned({ ...ends, signature, public_key: keys.publicKey }));
    for (const public_key of ['', 'x', new ChainKeys('other').publicKey])
      assert.equal(isSigned({ ...ends, signature, public_key }), false);
  });
});
