import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type KnownZone, matchZones } from '../../src/domains/zone-identity.js';
import type { RemoteZone } from '../../src/providers/provider.js';

const name = 'a.example';
const known = (id: number, remote_id: string, apart = ''): KnownZone => ({
  ...{ id, name, apart, remote_id, status: 'active' },
});
const open = (id: string, more: Partial<RemoteZone> = {}): RemoteZone => ({ id, name, ...more });
const hidden = (id: string) => open(id, { private: true });
const idle = (id: string) => open(id, { active: false });

/** Which domain has which zone then, which zones are new, which domains are gone, and what is in conflict. */
function matched(domains: KnownZone[], zones: RemoteZone[]) {
  const { listed, fresh, gone, yielding, conflicts } = matchZones(domains, zones);
  const shown = (id: string, apart: string) => (apart ? `${id} private` : id);
  return {
    has: Object.fromEntries(listed.map((one) => [one.domain.id, shown(one.remote_id, one.apart)])),
    fresh: fresh.map((zone) => shown(zone.id, zone.apart)).toSorted(),
    gone: gone.map(({ id }) => id),
    ...(yielding.length && { yielding: yielding.map(({ id }) => id) }),
    conflicts: conflicts.map(({ kept, others }) => [kept, ...others]),
  };
}
const none = { has: {}, fresh: [], gone: [], conflicts: [] };

describe('the zones of an account', () => {
  it('are domains of their own where they are private, whatever comes first', () => {
    assert.deepEqual(matched([], [hidden('p'), open('o')]), { ...none, fresh: ['o', 'p private'] });
    const two = [known(1, 'o'), known(2, 'p', 'p')];
    assert.deepEqual(matched(two, [hidden('p'), open('o')]), { ...none, has: { 1: 'o', 2: 'p private' } });
  });

  it('keep their domains while they are listed, be they idle or private', () => {
    const conflicts = [['m', 'o']];
    assert.deepEqual(matched([known(1, 'm')], [open('o'), idle('m')]), { ...none, has: { 1: 'm' }, conflicts });
    assert.deepEqual(matched([known(1, 'p')], [hidden('p'), open('o')]), {
      ...none,
      has: { 1: 'p private' },
      fresh: ['o'],
    });
  });

  it('take the domain of one that is gone, those in use first, but never that of a private one', () => {
    const conflicts = [['o', 'm']];
    assert.deepEqual(matched([known(1, 'x')], [hidden('p'), idle('m'), open('o')]), {
      ...none,
      has: { 1: 'o' },
      fresh: ['p private'],
      conflicts,
    });
    assert.deepEqual(matched([known(1, 'x')], [hidden('p')]), { ...none, fresh: ['p private'], gone: [1] });
    assert.deepEqual(matched([known(1, 'x', 'x')], [open('o')]), { ...none, fresh: ['o'], gone: [1] });
  });

  it('take no domain while they are not in use: it stays missing, and they are told', () => {
    const conflicts = [['x', 'm', 'n']];
    assert.deepEqual(matched([known(1, 'x')], [idle('m'), idle('n')]), { ...none, gone: [1], conflicts });
    assert.deepEqual(matched([known(1, 'x')], [idle('m'), open('o')]).has, { 1: 'o' });
    assert.deepEqual(matched([known(1, 'm')], [idle('m')]), { ...none, has: { 1: 'm' } });
    assert.deepEqual(matched([], [idle('m')]), { ...none, fresh: ['m'] });
  });

  it('are told where several of one name are public: one in use is kept, else the first', () => {
    assert.deepEqual(matched([], [idle('m'), open('a'), open('b')]), {
      ...none,
      fresh: ['a'],
      conflicts: [['a', 'm', 'b']],
    });
    assert.deepEqual(matched([], [idle('m'), idle('n')]), { ...none, fresh: ['m'], conflicts: [['m', 'n']] });
  });

  it('get the name when they are public again and it is free, else stay apart', () => {
    assert.deepEqual(matched([known(1, 'p', 'p')], [open('p')]), { ...none, has: { 1: 'p' } });
    assert.deepEqual(matched([known(1, 'p', 'p'), known(2, 'o')], [open('p'), open('o')]), {
      ...none,
      has: { 1: 'p private', 2: 'o' },
      conflicts: [['o', 'p']],
    });
    // a domain whose zone is gone makes way, and back again
    const gone = [known(1, 'p', 'p'), { ...known(2, 'o'), status: 'missing' }];
    assert.deepEqual(matched(gone, [open('p')]), { ...none, has: { 1: 'p' }, gone: [2], yielding: [2] });
    assert.deepEqual(matched([known(1, 'p'), known(2, 'o', 'o')], [open('o')]), {
      ...none,
      has: { 2: 'o' },
      gone: [1],
      yielding: [1],
    });
    // two that change places
    assert.deepEqual(matched([known(1, 'p', 'p'), known(2, 'o')], [open('p'), hidden('o')]), {
      ...none,
      has: { 1: 'p', 2: 'o private' },
    });
  });

  it('are not another zone with the same id', () => {
    const zones = [{ id: 'x', name: 'b.example' }, open('o')];
    assert.deepEqual(matched([known(1, 'x')], zones), { ...none, has: { 1: 'o' }, fresh: ['x'] });
  });
});
