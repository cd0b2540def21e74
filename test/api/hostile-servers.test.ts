import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, it } from '@jest/globals';
import { nameToWire } from '../../src/dns/wire-rdata.js';
import { DelegationWatch } from '../../src/monitoring/delegation/watch.service.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import {
  AA,
  type Answering,
  type Asked,
  address,
  answerTo,
  firstRecord,
  framed,
  type Hostile,
  LONG,
  pointer,
  type RawRecord,
  RRTYPE,
  soa,
  startHostile,
  TC,
} from '../support/hostile.js';
import { applicationOf, type Client, type Service, startService } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const ZONE = 'evil.test';
const RESOLVER = '127.31.1.1';
const PARENT = '127.31.1.2';
const SERVERS = ['127.31.1.3', '127.31.1.4', '127.31.1.5'];

const root = process.getuid?.() === 0 ? undefined : 'not root: name servers listen on port 53';
describeUnless(root)('a name server that answers with more than anybody can read', () => {
  let hostile: Hostile;
  let service: Service;
  let admin: Client;
  let user: Client;
  let db: Db;
  let close: () => Promise<void>;
  let domain: number;
  let adminId: number;
  let userId: number;
  /** what the servers of the zone, and what that above it says; null: as honest ones do */
  let zone: Answering | null = null;
  let above: Answering | null = null;

  const ns = (name: string, owner?: Buffer): RawRecord => ({ owner, type: RRTYPE.NS, rdata: nameToWire(name) });
  const a = (name: string, at: string): RawRecord => ({
    owner: nameToWire(name),
    type: RRTYPE.A,
    rdata: address(at),
  });
  const names = SERVERS.map((_, i) => `ns${i}.${ZONE}.`);
  const referral = (asked: Asked, all: string[], glue: RawRecord[]) =>
    answerTo(asked, [[], all.map((name) => ns(name, nameToWire(`${ZONE}.`))), glue], 0);
  const glue = names.map((name, i) => a(name, SERVERS[i] as string));
  const resolved = ({ name, type }: Asked): RawRecord[] | null => {
    if (name === 'test.') return [ns('ns.test.')];
    if (type === RRTYPE.NS) return null;
    if (type !== RRTYPE.A) return [];
    if (name === 'ns.test.') return [a(name, PARENT)];
    return names.includes(name) ? [a(name, SERVERS[names.indexOf(name)] as string)] : [];
  };
  const honest: Answering = (asked) => {
    const of = (records: RawRecord[]) => [answerTo(asked, [records])];
    if (asked.to === PARENT) return asked.type === RRTYPE.NS ? [referral(asked, names, glue)] : of([]);
    const known = asked.to === RESOLVER ? resolved(asked) : null;
    if (known) return of(known);
    if (asked.type === RRTYPE.NS) return of(names.map((name) => ns(name)));
    return of(asked.type === RRTYPE.SOA ? [{ type: RRTYPE.SOA, rdata: soa() }] : []);
  };
  /** Says by UDP that its answer is too long for it, and the rest by TCP. */
  const byTcp =
    (answering: Answering): Answering =>
    (asked) =>
      asked.tcp ? answering(asked) : [answerTo(asked, [], AA | TC)];

  beforeAll(async () => {
    hostile = await startHostile([RESOLVER, PARENT, ...SERVERS], 53, (asked) => {
      const other = asked.to === PARENT ? above : asked.to === RESOLVER ? null : zone;
      return (other ?? honest)(asked);
    });
    service = await startService('sqlite', { OUTBOUND_ALLOW: '127.0.0.0/8' });
    admin = service.admin;
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    done(await admin.put('/api/settings', { dns_resolvers: [RESOLVER] }));
    domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), ZONE, true);
    const person = { username: 'somebody', password: 'correct-horse-battery-8' };
    userId = made(await admin.post('/api/users', { ...person, role: 1 })).id;
    user = service.server.as(await service.server.login(person));
    adminId = done(await admin.get('/api/auth/me')).id;
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
    await hostile?.stop();
  });
  beforeEach(async () => {
    zone = null;
    above = null;
    hostile.asked.length = 0;
    await db.run('UPDATE domains SET owner_id = ?', [adminId]);
  });

  const health = async (client = admin) => done(await client.get(`/api/domains/${domain}/health`));
  const words = ({ issues }: Awaited<ReturnType<typeof health>>) =>
    issues.filter(({ code }) => code === 'answer_too_large').map(({ text }) => text);

  it('is asked as ever where it is honest', async () => {
    const seen = await health();
    assert.deepEqual(
      seen.servers.map(({ ok }) => ok),
      [true, true, true],
    );
    assert.deepEqual(words(seen), []);
  });

  // 64 KiB of names by pointers
  const bombs: [string, RegExp, Answering][] = [
    [
      '5 400 records at one name of 254 octets',
      /127\.31\.1\.3: the answer is too large: it has more than 4096 records/,
      (asked) => [
        answerTo(asked, [
          [
            { owner: LONG, type: asked.type, rdata: Buffer.alloc(0) },
            ...Array<RawRecord>(5400).fill({
              owner: pointer(firstRecord(asked)),
              type: asked.type,
              rdata: Buffer.alloc(0),
            }),
          ],
        ]),
      ],
    ],
    [
      '4 000 records that name 250 octets each',
      /127\.31\.1\.3: the answer is too large: its names take more than 131072 octets/,
      (asked) => {
        const rdata = Buffer.concat([Buffer.from([1, 0x79]), pointer(firstRecord(asked) + 4)]);
        const soas = Buffer.concat([rdata, rdata, Buffer.alloc(20)]);
        const more = { type: asked.type, rdata: asked.type === RRTYPE.SOA ? soas : rdata };
        const count = asked.type === RRTYPE.SOA ? 1500 : 3900;
        return [answerTo(asked, [[{ owner: LONG, type: 1, rdata: Buffer.alloc(4) }, ...Array(count).fill(more)]])];
      },
    ],
  ];
  for (const [what, finding, bomb] of bombs) {
    it(`is told of, and not read: ${what}`, async () => {
      zone = byTcp(bomb);
      const seen = await health();
      assert.match(words(seen).join('\n'), finding);
      assert.ok(
        seen.servers.every(({ ok, error }) => !ok && /the answer is too large/.test(error ?? '')),
        JSON.stringify(seen.servers),
      );
      // it does answer: that nothing does would be another finding
      assert.ok(!seen.issues.some(({ code }) => code === 'no_server_answers' || code === 'server_unreachable'));
      const record = made(
        await admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }),
      );
      const live = done(await admin.get(`/api/domains/${domain}/records/${record.id}/propagation`));
      assert.equal(live.verdict, 'unreachable');
      assert.match(live.servers[0]?.error ?? '', /the answer is too large/);
      done(await admin.delete(`/api/domains/${domain}/records/${record.id}`));
    });
  }

  it('above the zone, too, with thousands of name servers and their addresses', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `n${i}.x.`);
    above = byTcp((asked) => [
      asked.type === RRTYPE.NS
        ? referral(
            asked,
            many,
            many.map((name) => a(name, SERVERS[0] as string)),
          )
        : answerTo(asked, [[]]),
    ]);
    const seen = await health();
    assert.match(words(seen).join('\n'), /1000 NS records: 64 are read/);
    assert.match(words(seen).join('\n'), /of these 20 and 40 are asked/);
    assert.equal(seen.ns.parent.length, 64);
    assert.ok(seen.servers.length <= 80);
    assert.ok(hostile.count() < 500, String(hostile.count()));
    // what the watch keeps of it is no more
    await db.run('UPDATE domains SET created_at = ?', [now(-3_600_000)]);
    await applicationOf(service.server.dataDir)?.get(DelegationWatch).look(new AbortController().signal);
    const row = await db.row<{ names: string }>('SELECT names FROM delegations WHERE domain_id = ?', [domain]);
    assert.equal(JSON.parse(row?.names ?? '[]').length, 64);
  });

  it('with thousands of keys, each to be held against thousands of DS', async () => {
    const ds = Array.from({ length: 1500 }, (_, i) => Buffer.from([i >> 8, i & 255, 13, 2, ...Array(20).fill(i)]));
    const key = Array.from({ length: 1500 }, (_, i) => Buffer.from([1, 1, 3, 13, ...Array(20).fill(i)]));
    const records = (type: number, all: Buffer[]) => all.map((rdata) => ({ type, rdata }));
    above = (asked) => {
      if (asked.type !== RRTYPE.DS) return honest(asked);
      return byTcp(() => [answerTo(asked, [records(RRTYPE.DS, ds)])])(asked);
    };
    zone = (asked) => {
      if (asked.type !== RRTYPE.DNSKEY) return honest(asked);
      return byTcp(() => [answerTo(asked, [records(RRTYPE.DNSKEY, key)])])(asked);
    };
    const seen = await health();
    assert.equal(seen.ds?.length, 64);
    assert.match(words(seen).join('\n'), /1500 DS records: 64 are read/);
    assert.match(words(seen).join('\n'), /1500 DNSKEY records: 64 are read/);
    // a part of them proves nothing
    assert.ok(!seen.issues.some(({ code }) => code === 'ds_without_key'));
  });

  it('with pointers that lead in a circle', async () => {
    zone = (asked) => {
      const at = firstRecord(asked);
      const loop = { owner: pointer(at + 14), type: asked.type, rdata: pointer(at) };
      return [answerTo(asked, [[loop, { owner: pointer(at), type: asked.type, rdata: pointer(at + 14) }]])];
    };
    const seen = await health();
    assert.equal(seen.ns.zone, null);
    assert.ok(seen.servers.every(({ error }) => /broken DNS message/.test(error ?? '')));
    assert.deepEqual(
      seen.servers.map(({ serial }) => serial),
      [null, null, null],
    );
  });

  it('with a stream that does not end, or comes octet by octet: the connection is closed', async () => {
    const open = new Set<object>();
    let octets = 0;
    const sends = (bytes: (asked: Asked) => Buffer, ms: number) =>
      byTcp((asked) => (socket) => {
        open.add(socket);
        const send = () => {
          if (!socket.writable) return;
          octets += bytes(asked).length;
          socket.write(bytes(asked), () => void sleep(ms).then(send));
        };
        socket.once('close', () => open.delete(socket));
        send();
      });
    zone = sends((asked) => framed(answerTo(asked, [Array(4000).fill({ type: 1, rdata: Buffer.alloc(4) })])), 0);
    await health();
    await until('the connections are closed', async () => open.size === 0);
    // one message of each is read, and what the sockets hold of the next ones
    const connections = hostile.asked.filter(({ tcp }) => tcp).length;
    assert.ok(octets < connections * 8 * 1024 * 1024, `${octets} octets in ${connections} connections`);
    zone = sends(() => Buffer.from([0xff]), 20);
    const slow = await health();
    assert.ok(slow.servers.every(({ error }) => error === 'no answer within 3 s'));
    await until('the connections are closed', async () => open.size === 0);
  });

  it('is asked at inner addresses only for an administrator’s domain', async () => {
    await db.run('UPDATE domains SET owner_id = ?', [userId]);
    const seen = await health(user);
    for (const at of [PARENT, ...SERVERS]) assert.equal(hostile.count(at), 0, at);
    assert.ok(hostile.count(RESOLVER) > 0);
    assert.ok(seen.issues.some(({ code }) => code === 'parent_unknown'));
    // names of the zone's own records are no way there, either
    const records = `/api/domains/${domain}/records` as const;
    made(await user.post(records, { host: 'ns9', type: 'A', value: SERVERS[0] }));
    const { id } = made(await user.post(records, { host: '@', type: 'NS', value: `ns9.${ZONE}.` }));
    const live = done(await user.get(`${records}/${id}/propagation`));
    assert.deepEqual([live.servers[0]?.address, live.servers[0]?.error], [null, 'its name has no address']);
    // an inner address is not even shown: only inner resolvers may know of it
    for (const { address: at } of (await health(user)).servers) assert.equal(at, null);
    for (const at of [PARENT, ...SERVERS]) assert.equal(hostile.count(at), 0, at);
    await db.run('UPDATE domains SET owner_id = ?', [adminId]);
    assert.equal((await health()).found_by, 'parent');
    assert.ok(hostile.count(PARENT) > 0);
  });
});
