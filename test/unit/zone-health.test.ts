import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { DelegationFinder } from '../../src/monitoring/delegation/finder.service.js';
import { ZoneHealth } from '../../src/monitoring/delegation/health.service.js';
import type { KnownDelegations } from '../../src/monitoring/delegation/known.service.js';
import type { Looks } from '../../src/monitoring/delegation/looks.service.js';
import type { NameServers, Servers } from '../../src/monitoring/delegation/name-servers.service.js';
import { type Bound, Effort } from '../../src/platform/dns-client/effort.js';

const NOBODY: Servers = {
  delegation: { found: 'zone', certain: true, parent: null, names: [], servers: [], ds: null },
  own: null,
  all: [],
};
const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Checks that go on until `go` ends those that have begun. */
function looks() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const servers = {
    of: ({ id }: { id: number }) => {
      begun.push(id);
      return new Promise<Servers>((resolve) => ends.push(() => resolve(NOBODY)));
    },
    ask: async () => [],
  };
  const known = { before: async () => null };
  const looks = { begin: async (_: object, bound: Bound) => ({ allow: [], effort: new Effort(bound) }) };
  const health = new ZoneHealth(
    servers as unknown as NameServers,
    known as unknown as KnownDelegations,
    looks as unknown as Looks,
  );
  const look = (id: number, user = 1) => health.look({ id, name: `d${id}.test`, apart: '' }, user);
  const go = async () => {
    for (const end of ends.splice(0)) end();
    await soon();
  };
  return { begun, look, go };
}

describe('a health check of a zone', () => {
  it('is shared by requests that come during it, also by one that waited for a slot', async () => {
    const { begun, look, go } = looks();
    const others = Array.from({ length: 10 }, (_, i) => look(i + 1));
    await soon();
    const shared = look(1, 2);
    // the share of this user is used up: it waits
    const late = look(11);
    await soon();
    const other = look(11, 2);
    await soon();
    assert.deepEqual(begun, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    await go();
    assert.equal(await shared, await others[0]);
    await soon();
    await go();
    assert.deepEqual((await late).ns, (await other).ns);
    await Promise.all(others);
    // who asks later sees anew
    const later = look(1);
    await soon();
    assert.equal(begun.filter((id) => id === 1).length, 2);
    await go();
    await later;
  });

  it('of one user takes no slots of others, and is refused when the queue is full', async () => {
    const { begun, look, go } = looks();
    const greedy = Array.from({ length: 20 }, (_, i) => look(i + 1));
    await soon();
    assert.equal(begun.length, 10);
    await assert.rejects(look(21), { status: 429, code: 429001, retryAfterSeconds: 5 });
    const other = look(30, 2);
    await soon();
    assert.deepEqual(begun.slice(10), [30]);
    for (let i = 0; i < 3; i++) await go();
    await Promise.all([...greedy, other]);
  });
});

describe('the servers of a zone', () => {
  it('have no address where the outbound rules refuse it, as where no resolver knows one', async () => {
    const known: Record<string, string[]> = {
      'db01.corp.internal': ['10.0.0.5', 'fd00::5'],
      'meta.corp.internal': ['169.254.169.254'],
      'both.example.net': ['10.0.0.6', '9.9.9.9'],
    };
    const resolvers = { addresses: async (name: string) => known[name] ?? [] };
    const config = { outboundDeny: [] };
    const finder = new DelegationFinder({} as never, resolvers as never, {} as never, config as never);
    const names = [...Object.keys(known), 'none.example.net'];
    const glue = new Map([['glued.example.net', ['192.168.0.1']]]);
    const look = { allow: [], effort: {} } as never;
    assert.deepEqual(await finder.servers([...names, 'glued.example.net'], glue, look), [
      { name: 'db01.corp.internal', address: null },
      { name: 'meta.corp.internal', address: null },
      { name: 'both.example.net', address: '9.9.9.9' },
      { name: 'none.example.net', address: null },
      { name: 'glued.example.net', address: null },
    ]);
  });
});
