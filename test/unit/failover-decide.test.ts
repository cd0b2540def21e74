import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import {
  type Check,
  counted,
  inMaintenance,
  isAsLeft,
  isReturn,
  limitedUntil,
  type Side,
  sideOf,
  targetOf,
  UNKNOWN,
} from '../../src/monitoring/failover/checks/decide.js';
import { isSigned, isTimely, sign } from '../../src/monitoring/failover/checks/signature.js';
import { majority } from '../../src/monitoring/failover/checks/votes.service.js';

const CHECK = { fall: 3, rise: 2 } as Check;
const good = { up: true, error: null, latency_ms: 1 };
const bad = { up: false, error: 'refused', latency_ms: null };
const nobody = { up: null, error: 'no quorum', latency_ms: null };

describe('what is known of a value', () => {
  const upAfter = (...verdicts: (typeof good | typeof bad | typeof nobody)[]) =>
    verdicts.reduce((health, verdict) => counted(health, verdict, CHECK, 'now'), UNKNOWN).up;

  it('is up with the first good result, down after `fall` bad ones in a row, up again after `rise` good ones', () => {
    assert.equal(upAfter(), null);
    assert.equal(upAfter(good), true);
    assert.equal(upAfter(bad, bad), null);
    assert.equal(upAfter(bad, bad, bad), false);
    assert.equal(upAfter(good, bad, bad, good, bad, bad), true);
    assert.equal(upAfter(good, bad, bad, bad), false);
    assert.equal(upAfter(bad, bad, bad, good), false);
    assert.equal(upAfter(bad, bad, bad, good, bad, good), false);
    assert.equal(upAfter(bad, bad, bad, good, good), true);
  });

  it('does not count unknown results', () => {
    assert.equal(upAfter(good, bad, nobody, bad, nobody), true);
    assert.equal(upAfter(good, bad, nobody, bad, nobody, bad), false);
  });
});

describe('what a rule serves', () => {
  const rule = (up: Record<string, boolean | null>, more: object = {}) => ({
    primary: ['p1', 'p2'],
    backup: ['b1', 'b2'],
    type: 'A',
    active: 'primary' as Side,
    served: ['p1', 'p2'],
    auto_switch_back: true,
    checks: Object.fromEntries(Object.entries(up).map(([value, is]) => [value, { ...UNKNOWN, up: is }])),
    ...more,
  });
  const serves = (...of: Parameters<typeof rule>) => targetOf(rule(...of))?.values ?? null;
  const backup = { active: 'backup', served: ['b1'] };

  it('is the primary values that work, else the backup values that work, else it stays', () => {
    assert.deepEqual(serves({ p1: true, p2: true, b1: true, b2: true }), ['p1', 'p2']);
    assert.deepEqual(serves({ p1: false, p2: true, b1: true, b2: true }), ['p2']);
    assert.deepEqual(serves({ p1: false, p2: false, b1: false, b2: true }), ['b2']);
    assert.equal(serves({ p1: false, p2: false, b1: false, b2: false }), null);
    assert.deepEqual(serves({ p1: true, p2: false, b1: true, b2: true }, backup), ['p1']);
  });

  it('is no value of unknown health unless it is served already', () => {
    assert.deepEqual(serves({}), ['p1', 'p2']);
    assert.deepEqual(serves({ p1: false, p2: false }), null);
    assert.deepEqual(serves({ p1: null, b1: null }, backup), ['b1']);
  });

  it('stays at the backup without auto_switch_back', () => {
    const stays = { ...backup, auto_switch_back: false };
    assert.deepEqual(serves({ p1: true, p2: true, b1: true }, stays), ['b1']);
    assert.equal(serves({ p1: true, p2: true, b1: false, b2: false }, stays), null);
  });

  it('is one value of a type with a single record, and the same one as long as it works', () => {
    const one = { type: 'CNAME', served: ['p1'] };
    assert.deepEqual(serves({ p1: true, p2: true }, one), ['p1']);
    assert.deepEqual(serves({ p1: false, p2: false, b1: true, b2: true }, one), ['b1']);
    assert.deepEqual(serves({ b1: true, b2: true }, { ...one, active: 'backup', served: ['b2'] }), ['b2']);
  });
});

describe('what a record set holds', () => {
  const sides = { primary: ['p1', 'p2'], backup: ['b1', 'b2'] };
  const left = (values: string[], served: string[] | null, intended: string[] | null = null) =>
    isAsLeft(values, { ...sides, served, intended });

  it('is as the rule left it, or was changed by others', () => {
    assert.ok(left(['p2', 'p1'], null));
    assert.ok(left(['b1', 'b2'], null));
    assert.ok(!left(['p1'], null));
    assert.ok(left(['p1'], ['p1']));
    assert.ok(!left(['p1', 'p2'], ['p1']));
    assert.ok(!left([], ['p1']));
    assert.ok(!left(['p1', 'x'], ['p1']));
  });

  it('may be a mixture of the values before and after a switch that was cut off', () => {
    assert.ok(left(['b1'], ['p1', 'p2'], ['b1', 'b2']));
    assert.ok(left(['b1', 'p2'], ['p1', 'p2'], ['b1', 'b2']));
    assert.ok(!left(['b1', 'x'], ['p1', 'p2'], ['b1', 'b2']));
    assert.ok(!left([], ['p1', 'p2'], ['b1', 'b2']));
  });

  it('belongs to a side', () => {
    assert.deepEqual(
      [['p1'], ['b2', 'b1'], ['p1', 'b1'], []].map((one) => sideOf(one, sides)),
      ['primary', 'backup', null, null],
    );
  });
});

it('switches are counted within the last hour', () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  assert.equal(limitedUntil([ago(70), ago(10)], 2), null);
  assert.equal(limitedUntil([ago(70), ago(30), ago(10)], 2)?.slice(0, 16), ago(-30).slice(0, 16));
  const up = { ...UNKNOWN, up: true };
  const down = { ...UNKNOWN, up: false };
  assert.equal(isReturn(['a', 'b'], { a: up }), true);
  assert.equal(isReturn(['a', 'b'], { a: up, b: down, c: down }), false);
  const maintenance = [{ start_time: ago(10), end_time: ago(-10) }];
  assert.deepEqual(
    [ago(20), ago(0), ago(-20)].map((at) => inMaintenance({ maintenance }, at)),
    [false, true, false],
  );
});

it('more than half of all checkers vote, and more than half of these decide', () => {
  const [up, down, none] = [{ up: true }, { up: false }, { up: null }];
  assert.equal(majority([up]), true);
  assert.equal(majority([none]), null);
  assert.equal(majority([up, down]), null);
  assert.equal(majority([down, none]), null);
  assert.equal(majority([down, down, up]), false);
  assert.equal(majority([down, down, none]), false);
  assert.equal(majority([down, up, none]), null);
  assert.equal(majority([down, none, none]), null);
});

it('a signature is valid for one secret, one time and one text, and a time for one minute', () => {
  const secret = 's'.repeat(32);
  const at = String(Date.now());
  const signature = sign(secret, at, '{}');
  assert.ok(isSigned(secret, at, '{}', signature));
  assert.ok(!isSigned(secret, at, '[]', signature));
  assert.ok(!isSigned(secret, `${at}0`, '{}', signature));
  assert.ok(!isSigned('t'.repeat(32), at, '{}', signature));
  assert.ok(!isSigned(secret, at, '{}', ''));
  assert.ok(isTimely(at));
  for (const time of [String(Number(at) - 61_000), String(Number(at) + 61_000), 'soon', '']) assert.ok(!isTimely(time));
});
