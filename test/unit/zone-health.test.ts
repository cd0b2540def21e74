import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { ZoneHealth } from '../../src/delegation/health.service.js';
import type { KnownDelegations } from '../../src/delegation/known.service.js';
import type { NameServers, Servers } from '../../src/delegation/name-servers.service.js';

const NOBODY: Servers = {
  delegation: { found: 'zone', certain: true, parent: null, names: [], servers: [], ds: null },
  own: null,
  all: [],
};

describe('a look at a zone from outside', () => {
  it('is shared by those who ask meanwhile, and twenty go on at once', async () => {
    const begun: number[] = [];
    const go: (() => void)[] = [];
    const servers = {
      of: ({ id }: { id: number }) => {
        begun.push(id);
        return new Promise<Servers>((resolve) => go.push(() => resolve(NOBODY)));
      },
      ask: async () => [],
    };
    const known = { before: async () => null };
    const health = new ZoneHealth(servers as unknown as NameServers, known as unknown as KnownDelegations);
    const look = (id: number) => health.look({ id, name: `d${id}.test` });
    const ids = Array.from({ length: 20 }, (_, i) => i + 1);
    const all = ids.map(look);
    const shared = look(1);
    assert.deepEqual(begun, ids);
    const refused = assert.rejects(look(21), { status: 429, code: 429001 });
    for (const one of go) one();
    await refused;
    assert.equal(await shared, await all[0]);
    await Promise.all(all);
    // there is room again, and who asks later sees anew
    const later = [look(1), look(21)];
    assert.deepEqual(begun, [...ids, 1, 21]);
    for (const one of go) one();
    assert.equal((await Promise.all(later)).length, 2);
  });
});
