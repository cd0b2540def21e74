import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type ChangeRules, changeRulesOf, strictestRules } from '../../src/domains/change-rules/change-rules.js';
import { closedAt, DAYS, isOpen, type Window } from '../../src/domains/change-rules/windows.js';

const berlin = (days: Window['days'], from: string, until: string): Window => ({
  ...{ days, from, until, timezone: 'Europe/Berlin' },
});
const at = (text: string) => Date.parse(text);
const open = (window: Window, text: string) => isOpen(window, at(text));
const outside = (windows: Window[], text: string) => closedAt({ freeze: null, windows }, at(text), false);

describe('windows', () => {
  it('are open from the one time until just before the other, by the clock of their zone', () => {
    const office = berlin(['mon'], '09:00', '17:00');
    // 9 o'clock in Berlin is 8 UTC in winter and 7 UTC in summer
    for (const [time, is] of [
      ['2026-01-05T07:59:59Z', false],
      ['2026-01-05T08:00:00Z', true],
      ['2026-01-05T15:59:59.999Z', true],
      ['2026-01-05T16:00:00Z', false],
      ['2026-01-06T09:00:00Z', false],
      ['2026-07-06T07:00:00Z', true],
      ['2026-07-06T06:59:00Z', false],
      ['2026-07-06T15:00:00Z', false],
    ] as const)
      assert.equal(open(office, time), is, time);
  });

  it('go on over midnight into a day that they do not name', () => {
    const night = berlin(['fri'], '22:00', '02:00');
    // Friday 2 January 2026, 22:00 in Berlin
    for (const [time, is] of [
      ['2026-01-02T20:59:00Z', false],
      ['2026-01-02T21:00:00Z', true],
      ['2026-01-03T00:59:00Z', true],
      ['2026-01-03T01:00:00Z', false],
      // the night before is that of Thursday
      ['2026-01-02T00:30:00Z', false],
    ] as const)
      assert.equal(open(night, time), is, time);
  });

  it('are a whole day where both times are one', () => {
    const whole = berlin(['sat'], '00:00', '00:00');
    assert.deepEqual(
      ['2026-01-02T22:59:00Z', '2026-01-02T23:00:00Z', '2026-01-03T22:59:00Z', '2026-01-03T23:00:00Z'].map((time) =>
        open(whole, time),
      ),
      [false, true, true, false],
    );
    const shifted = berlin(['sat'], '06:00', '06:00');
    assert.deepEqual(
      ['2026-01-03T04:59:00Z', '2026-01-03T05:00:00Z', '2026-01-04T04:59:00Z', '2026-01-04T05:00:00Z'].map((time) =>
        open(shifted, time),
      ),
      [false, true, true, false],
    );
  });

  it('say when they open next, over the day on which the clock is set forward', () => {
    const early = berlin(['sun'], '09:00', '10:00');
    // 29 March 2026: from 2:00 (1 UTC) the clock is at 3:00
    assert.deepEqual(outside([early], '2026-03-28T23:30:00Z'), { until: '2026-03-29T07:00:00.000Z', why: null });
    assert.deepEqual(outside([early], '2026-03-29T08:00:00Z'), { until: '2026-04-05T07:00:00.000Z', why: null });
  });

  it('begin when the clock is set over their first minute, and not at all where it is set over all of them', () => {
    const across = berlin(['sun'], '02:30', '04:00');
    assert.equal(outside([across], '2026-03-28T23:30:00Z')?.until, '2026-03-29T01:00:00.000Z');
    const inside = berlin(['sun'], '02:15', '02:45');
    assert.equal(outside([inside], '2026-03-28T23:30:00Z')?.until, '2026-04-05T00:15:00.000Z');
  });

  it('count the hour that the clock repeats twice', () => {
    const short = berlin(['sun'], '02:00', '02:30');
    // 25 October 2026: at 3:00 (1 UTC) the clock is set back to 2:00
    assert.deepEqual(
      ['2026-10-25T00:10:00Z', '2026-10-25T00:40:00Z', '2026-10-25T01:10:00Z', '2026-10-25T01:40:00Z'].map((time) =>
        open(short, time),
      ),
      [true, false, true, false],
    );
    assert.equal(outside([short], '2026-10-25T00:40:00Z')?.until, '2026-10-25T01:00:00.000Z');
    const before = berlin(['sun'], '01:00', '02:30');
    assert.equal(outside([before], '2026-10-25T00:40:00Z')?.until, '2026-10-25T01:00:00.000Z');
  });

  it('open where the first of several opens, each in its zone', () => {
    const tokyo: Window = { days: [...DAYS], from: '09:00', until: '10:00', timezone: 'Asia/Tokyo' };
    const kathmandu: Window = { days: ['thu'], from: '05:00', until: '06:00', timezone: 'Asia/Kathmandu' };
    assert.equal(outside([tokyo, kathmandu], '2026-01-07T22:00:00Z')?.until, '2026-01-07T23:15:00.000Z');
    assert.equal(outside([kathmandu, tokyo], '2026-01-07T23:59:00Z'), null);
    assert.equal(outside([tokyo, kathmandu], '2026-01-08T01:00:00Z')?.until, '2026-01-09T00:00:00.000Z');
    assert.equal(outside([], '2026-01-08T01:00:00Z'), null);
  });
});

describe('a freeze', () => {
  const freeze = { from: '2026-11-27T00:00:00.000Z', until: '2026-11-28T00:00:00.000Z', reason: 'sale', acme: false };
  const closed = (text: string, acme = false, more = {}) =>
    closedAt({ freeze: { ...freeze, ...more }, windows: [] }, at(text), acme);

  it('holds from its begin until just before its end', () => {
    const until = freeze.until;
    assert.equal(closed('2026-11-26T23:59:59.999Z'), null);
    assert.deepEqual(closed('2026-11-27T00:00:00Z'), { until, why: 'sale' });
    assert.deepEqual(closed('2026-11-27T23:59:59.999Z'), { until, why: 'sale' });
    assert.equal(closed('2026-11-28T00:00:00Z'), null);
  });

  it('lets challenges of ACME pass unless it says otherwise, and windows let them pass, too', () => {
    assert.equal(closed('2026-11-27T12:00:00Z', true), null);
    assert.equal(closed('2026-11-27T12:00:00Z', true, { acme: true })?.why, 'sale');
    const windows = [berlin(['mon'], '09:00', '10:00')];
    assert.equal(closedAt({ freeze: null, windows }, at('2026-11-27T12:00:00Z'), true), null);
  });

  it('ends for a write when a window is open, too', () => {
    const windows = [berlin(['mon'], '09:00', '10:00')];
    // Friday; its end is on Saturday, the window on Monday
    assert.deepEqual(closedAt({ freeze, windows }, at('2026-11-27T12:00:00Z'), false), {
      ...{ until: '2026-11-30T08:00:00.000Z', why: 'sale' },
    });
    // a window that opens in the freeze does not count
    const friday = [berlin(['fri'], '09:00', '10:00')];
    assert.deepEqual(closedAt({ freeze, windows: friday }, at('2026-11-26T12:00:00Z'), false), {
      ...{ until: '2026-12-04T08:00:00.000Z', why: null },
    });
  });
});

describe('rules of several domains of one zone', () => {
  const none = changeRulesOf({ change_rules: null });
  const strictest = (...all: Partial<ChangeRules>[]) => {
    const [own, ...others] = all.map((rules): ChangeRules => ({ ...none, ...rules }));
    return strictestRules(own as ChangeRules, others, at('2026-01-05T12:00:00Z'));
  };

  it('demand together the strictest of each, in any order', () => {
    const freeze = { from: '2026-01-05T00:00:00Z', until: '2026-01-06T00:00:00Z', reason: 'now', acme: false };
    const later = { ...freeze, from: '2026-02-05T00:00:00Z', until: '2026-02-06T00:00:00Z', reason: 'later' };
    const closed = [berlin(['sun'], '09:00', '17:00')];
    const opened = [berlin(['mon'], '00:00', '23:00')];
    const all = { for: 'all', by: { role: 3 }, own: false } as const;
    const guarded = { for: 'guarded', by: { role: 2 }, own: true } as const;
    const pairs: [Partial<ChangeRules>, Partial<ChangeRules>, Partial<ChangeRules>][] = [
      [
        { guards: { last_mx: 'force', apex_ns: 'off' } },
        { guards: { last_mx: 'warn' } },
        { guards: { last_mx: 'force' } },
      ],
      [{ ttl_floor: 60 }, { ttl_floor: null }, { ttl_floor: 60 }],
      [{ require_if_match: true }, {}, { require_if_match: true }],
      [{ approval: all }, { approval: guarded }, { approval: all }],
      [{ approval: guarded }, {}, { approval: guarded }],
      [{ freeze }, { freeze: later }, { freeze }],
      [{ windows: closed }, { windows: opened }, { windows: closed }],
    ];
    for (const [one, other, expected] of pairs) {
      assert.deepEqual(strictest(one, other), { ...none, ...expected });
      assert.deepEqual(strictest(other, one), { ...none, ...expected });
    }
    assert.deepEqual(strictest({}), none);
  });
});
