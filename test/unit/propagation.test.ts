import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from '@jest/globals';
import packet, { type StringAnswer } from 'dns-packet';
import type { RecordCache, StoredRecord } from '../../src/cache/record-cache.js';
import { decode, TYPE } from '../../src/dns/wire.js';
import type { DelegationFinder, ZoneServer } from '../../src/monitoring/delegation/finder.service.js';
import type { Look, Looks } from '../../src/monitoring/delegation/looks.service.js';
import type { NameServers } from '../../src/monitoring/delegation/name-servers.service.js';
import type { Resolvers } from '../../src/monitoring/delegation/resolvers.service.js';
import { Propagation } from '../../src/monitoring/propagation/propagation.service.js';
import { judge, wanted } from '../../src/monitoring/propagation/published.js';
import type { DnsClient, Question, Reply } from '../../src/platform/dns-client/dns-client.service.js';
import { type Bound, Effort } from '../../src/platform/dns-client/effort.js';
import type { RecordsService } from '../../src/records/records.service.js';

const ZONE = 'z.test';
const reply = (...answers: StringAnswer[]): Reply => {
  const message = packet.encode({ type: 'response', flags: packet.AUTHORITATIVE_ANSWER, answers });
  return { ...decode(message), transport: 'udp', latencyMs: 1 };
};

const begin = async (_zone: object, bound: Bound, signal?: AbortSignal): Promise<Look> => {
  return { signal, allow: [], effort: new Effort(bound) };
};
const looks = { begin } as unknown as Looks;

describe('propagation', () => {
  it('asks servers that do not answer for the SOA alone, and limits the questions of a zone at a time', async () => {
    const alive = { name: 'ns.test', address: '192.0.2.1' };
    const dead = Array.from({ length: 60 }, (_, i) => ({ name: 'dead.test', address: `198.51.100.${i}` }));
    const sets = Array.from({ length: 50 }, (_, i) => ({ host: `h${i}`, type: 'A' }));
    const types: Record<string, number[]> = { 'ns.test': [], 'dead.test': [] };
    let [now, most] = [0, 0];
    const servers = {
      besides: async () => ({ own: null, more: [] }),
      one: async (_: string, server: ZoneServer, { type }: Question) => {
        most = Math.max(most, ++now);
        types[server.name]?.push(type);
        await turn();
        now--;
        const silent = { server, reply: null, error: 'no answer within 3 s', lame: false, noRoute: true };
        return server === alive ? { ...silent, reply: reply(), error: null, noRoute: false } : silent;
      },
    };
    const propagation = new Propagation(
      {} as DnsClient,
      { find: async () => ({ found: 'zone', servers: [...dead, alive] }) } as unknown as DelegationFinder,
      servers as unknown as NameServers,
      { all: async () => [] } as unknown as Resolvers,
      { those: async () => [] } as unknown as RecordCache,
      looks,
      {} as RecordsService,
    );
    const look = (user: number) =>
      propagation.look(user, { id: 1, name: ZONE, provider: 'vercel' }, sets, 0, new AbortController().signal);
    const [report] = await Promise.all([look(1), look(2)]);
    // by the one that this machine has a way to
    assert.equal(report.verdict, 'published');
    assert.ok(
      report.sets.every((set) => set.servers.filter(({ error }) => error === 'no answer within 3 s').length === 60),
    );
    assert.equal(types['dead.test']?.length, 2 * 60);
    assert.deepEqual(new Set(types['dead.test']), new Set([TYPE.SOA]));
    assert.equal(types['ns.test']?.length, 2 * 51);
    assert.equal(most, 40);
  });

  it('refuses a user more than half of the slots of a zone', async () => {
    const gone = new AbortController();
    const find = (_: object, { signal }: Look) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const propagation = new Propagation(
      {} as DnsClient,
      { find } as unknown as DelegationFinder,
      {} as NameServers,
      { all: async () => [] } as unknown as Resolvers,
      { those: async () => [] } as unknown as RecordCache,
      looks,
      {} as RecordsService,
    );
    const look = (user: number, id = 1) =>
      propagation.look(user, { id, name: ZONE, provider: 'vercel' }, [], 60_000, gone.signal);
    const waiting = [1, 2].flatMap((user) =>
      Array.from({ length: user === 1 ? 100 : 99 }, (_, i) => look(user, i % 4)),
    );
    const full = { code: 429001 };
    await assert.rejects(look(1), full);
    waiting.push(look(3));
    await assert.rejects(look(4), full);
    gone.abort();
    const ended = await Promise.allSettled(waiting);
    assert.ok(ended.every(({ status }) => status === 'rejected'));
    assert.equal(propagation.isFull(1, { id: 1 }), false);
  });

  it('accepts the answer of a wildcard for a deleted record, and no other', () => {
    const row = (host: string, value: string, type = 'A') =>
      ({ host, type, value, priority: null, line: 'default', enabled: true, proxied: false, weight: null }) as never;
    const rows: StoredRecord[] = [row('*', '192.0.2.1'), row('*.b', '192.0.2.2'), row('only', 'text', 'TXT')];
    const says = (host: string, value?: string) => {
      const answers = value ? [{ type: 'A' as const, name: `${host}.${ZONE}`, ttl: 60, data: value }] : [];
      return judge(wanted(ZONE, host, 'A', rows), ZONE, reply(...answers)).status;
    };
    assert.deepEqual([says('a', '192.0.2.1'), says('a', '192.0.2.9'), says('a')], ['published', 'stale', 'published']);
    assert.deepEqual([says('a.b', '192.0.2.2'), says('a.b', '192.0.2.1')], ['published', 'stale']);
    assert.deepEqual(
      [says('c.a.b', '192.0.2.2'), says('only', '192.0.2.1'), says('only')],
      ['published', 'stale', 'published'],
    );
    assert.deepEqual([says('*', '192.0.2.1'), says('*')], ['published', 'missing']);
  });

  it('accepts addresses for a CNAME at the apex, which no server can answer with', () => {
    const row = { host: '@', type: 'CNAME', value: 'x.test', priority: null, line: 'default', enabled: true };
    const want = wanted(ZONE, '@', 'CNAME', [{ ...row, proxied: false, weight: null } as never]);
    assert.equal(want.question.type, TYPE.A);
    assert.equal(judge(want, ZONE, reply({ type: 'A', name: ZONE, ttl: 60, data: '192.0.2.1' })).status, 'published');
    assert.equal(judge(want, ZONE, reply()).status, 'missing');
    assert.equal(wanted(ZONE, '@', 'CNAME', []).question.type, TYPE.CNAME);
  });
});
