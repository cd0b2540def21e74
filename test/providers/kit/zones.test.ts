import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { EMPTY, refusePriority, refuseText } from '../../../src/providers/kit/values/value-limits.js';
import { dayOf, linesIn, zoneInfo, zoneNamed, zoneOf } from '../../../src/providers/kit/zone/zones.js';

describe('zones of vendors', () => {
  it('are known by their names in every form, and found by the exact one', async () => {
    assert.deepEqual(zoneOf('BÜCHER.example.', 7), { id: '7', name: 'xn--bcher-kva.example' });
    assert.deepEqual(zoneOf('Example.com'), { id: 'Example.com', name: 'example.com' });
    assert.equal(
      (await zoneNamed('b.example', Promise.resolve([zoneOf('ab.example'), zoneOf('b.example')])))?.id,
      'b.example',
    );
    assert.equal(await zoneNamed('b.example', Promise.resolve([zoneOf('ab.example')])), null);
  });

  it('are none without a name, or without the id that others have', () => {
    const nothing = undefined as unknown as string;
    for (const make of [() => zoneOf(nothing), () => zoneOf('a.example', nothing), () => zoneOf(nothing, 7)])
      assert.throws(make, { kind: 'unavailable', message: /cut short/ });
  });

  it('end on a day, in whatever way it is written', () => {
    assert.equal(dayOf('2026-03-01'), '2026-03-01T00:00:00.000Z');
    assert.equal(dayOf('2026/3/1 12:00:00', '00:00:00+08:00'), '2026-03-01T00:00:00+08:00');
    for (const none of [undefined, '', '0000-00-00', '2026-03', 'soon', '2026-03-01x']) assert.equal(dayOf(none), null);
    assert.deepEqual(zoneInfo({ plan: 'x' }), { lines: [], minTtl: null, expiresAt: null, plan: 'x' });
  });

  it('have lines in a tree, of which some only hold others', () => {
    type Node = { id: string | null; name: string; below?: Node[]; parent?: string };
    const tree: Node[] = [
      { id: 'a', name: 'A', below: [{ id: null, name: 'group', below: [{ id: 'b', name: 'B' }] }] },
      { id: 'c', name: 'C', parent: 'a' },
    ];
    assert.deepEqual(
      linesIn(tree, (one) => one),
      [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B', parent: 'a' },
        { id: 'c', name: 'C', parent: 'a' },
      ],
    );
    assert.deepEqual(
      linesIn(null, (one: Node) => one),
      [],
    );
  });

  it('take priorities and texts within bounds', () => {
    const mx = (priority: number) => ({ type: 'MX', priority });
    for (const fine of [mx(0), mx(50), { type: 'SRV', priority: 99 }]) refusePriority(fine, 'X');
    assert.throws(() => refusePriority(mx(51), 'X'), {
      message: 'X takes MX priorities of 0 to 50',
      mayHaveApplied: false,
    });
    assert.throws(() => refusePriority(mx(0), 'X', 1), { kind: 'rejected' });
    assert.throws(() => refuseText({ type: 'TXT', value: '' }, 'X', { never: [EMPTY] }), /nothing in it/);
  });
});
