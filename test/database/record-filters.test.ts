import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import type { Query } from '../support/answers.js';
import { openDatabase } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { startService } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

const ZONE = 'filters.example';
const RECORDS = 600;
const COPIES = 12;

/** Numbers that look random and are the same at each run. */
function dice(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

for (const { kind, skip } of databases('all'))
  describeUnless(skip)(`filtered lists of records on ${kind}`, () => suite(kind));

function suite(kind: Kind): void {
  let service: Awaited<ReturnType<typeof startService>>;
  let db: Db;
  let close: () => Promise<void>;
  let domain: number;
  let records: `/api/domains/${number}/records`;
  const roll = dice(42);
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T;

  const list = async (query: Query = '') => done(await service.admin.get(`${records}${query}`));
  /** What the service asks its database for a call. */
  const told = async (query: Query): Promise<{ sql: string; values: SqlValue[] }[]> => {
    const told = tellStatements();
    await list(query);
    // background work asks at any time for what is none of a list's
    return told().filter(({ sql }) => /FROM (sessions|domains d|dns_records|record_counts)/.test(sql));
  };
  const counts = async (table: string) =>
    (
      await db.rows<{ domain_id: number; type: string; n: number }>(
        table === 'record_counts'
          ? 'SELECT domain_id, type, hits AS n FROM record_counts WHERE hits <> 0'
          : 'SELECT domain_id, type, COUNT(*) AS n FROM dns_records GROUP BY domain_id, type',
      )
    )
      .map((row) => `${row.domain_id} ${row.type} ${row.n}`)
      .toSorted();

  beforeAll(async () => {
    service = await startService(kind, { LOG_LEVEL: 'error' });
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    const account = await addAccount(service.admin, 'zonefile', {});
    domain = await addDomain(service.admin, account, ZONE, true);
    records = `/api/domains/${domain}/records`;
    const lines = Array.from({ length: RECORDS }, (_none, i) => {
      const host = `Host-${i % 150}.${pick(['eu', 'us', 'xn--bcher-kva'])}`;
      const data = pick([
        `A 192.0.2.${i % 256}`,
        `AAAA 2001:db8::${i.toString(16)}`,
        `TXT "${pick(['Hello', 'v=spf1', '50% off_now!', 'back^slash'])} ${i}"`,
        `MX ${i} mx${i % 7}.Example.net.`,
      ]);
      return `${host} ${60 + roll(3)} IN ${data}\n`;
    });
    appendFileSync(join(service.server.dataDir, 'zones', `${ZONE}.zone`), lines.join(''));
    await list('?refresh=true&limit=1');
  });
  afterAll(async () => {
    await close?.();
    await service?.stop();
  });

  it('hold what a plain look at every record finds, after edits of every kind, too', async () => {
    const texts = ['Größe', 'ÄÖÜ 😀', 'a^b', 'tab\tand more', 'x%y_z!', '\u0010\u0011'];
    for (const [i, value] of texts.entries()) {
      const { id } = made(await service.admin.post(records, { host: `t${i}`, type: 'TXT', value, remark: `Nº ${i}` }));
      if (i === 1) done(await service.admin.delete(`${records}/${id}`));
      if (i === 2) done(await service.admin.put(`${records}/${id}`, { type: 'A', value: '192.0.2.200' }));
      if (i === 3) done(await service.admin.patch(`${records}/${id}/status`, { enabled: false }));
      if (i === 4) done(await service.admin.put(`${records}/${id}`, { remark: 'SPÄTER' }));
    }
    const all: RecordView[] = [];
    for (let page = 1; ; page++) {
      const { list: rows, total } = await list(`?page=${page}&limit=500`);
      all.push(...rows);
      if (all.length === total) break;
    }
    assert.ok(all.length > RECORDS);
    const keywords = [
      'host-1',
      'HELLO',
      'größe',
      'GRÖSSE',
      'bücher',
      'xn--b',
      '%',
      '_',
      '!',
      '^',
      'a^b',
      'äö',
      'später',
      'nº',
    ];
    keywords.push('192.0.2.2', 'mx3.example', 'nowhere', '2001:db8::1', '\u0010', 'fc', '00');
    for (let round = 0; round < 150; round++) {
      const type = roll(2) ? pick(['A', 'AAAA', 'TXT', 'MX', 'NS', 'SRV', 'a,txt', 'MX,SRV,A,LOC']) : undefined;
      const host = roll(3) ? undefined : pick(all).host;
      const keyword = roll(2) ? pick(keywords) : undefined;
      const enabled = roll(5) ? undefined : Boolean(roll(2));
      const [sort, limit] = [pick([undefined, 'id', '-id', 'ttl']), pick([undefined, 1, 7, 500])];
      const page = limit && pick([1, 2, 3, 40]);
      const has = (text: string) => text.toLowerCase().includes((keyword as string).toLowerCase());
      const wanted = all
        .filter((r) => !type || type.toUpperCase().split(',').includes(r.type))
        .filter((r) => host === undefined || r.host === host)
        .filter((r) => enabled === undefined || r.enabled === enabled)
        .filter((r) => !keyword || [r.host, r.unicode_host, r.value, r.remark].some(has));
      if (sort === '-id') wanted.reverse();
      if (sort === 'ttl') wanted.sort((a, b) => a.ttl - b.ttl || a.id - b.id);
      const query = Object.entries({ type, host, keyword, enabled, sort, limit, page })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
        .join('&');
      const found = await list(`?${query}`);
      const cut = limit && page ? wanted.slice((page - 1) * limit, page * limit) : wanted;
      assert.equal(found.total, wanted.length, query);
      assert.deepEqual(
        found.list.map((r) => r.id),
        cut.map((r) => r.id),
        query,
      );
    }
  });

  it('count by type exactly, whatever wrote the records', async () => {
    assert.deepEqual(await counts('record_counts'), await counts('dns_records'));
    await Promise.all(
      Array.from({ length: 8 }, (_none, i) =>
        service.admin.post(records, { host: `caa${i}`, type: 'CAA', value: '0 issue "ca.example.net"' }),
      ),
    );
    appendFileSync(join(service.server.dataDir, 'zones', `${ZONE}.zone`), 'srv 60 IN SRV 0 5 5060 sip.example.net.\n');
    assert.equal((await list('?refresh=true&type=SRV')).total, 1);
    assert.deepEqual([(await list('?type=CAA&limit=3')).total, (await list('?type=CAA')).list.length], [8, 8]);
    assert.deepEqual(await counts('record_counts'), await counts('dns_records'));
  });

  it('find a keyword as far into a value as is promised', async () => {
    const value = `${'x'.repeat(2000)}needle${'x'.repeat(1000)}haystack`;
    const { id } = made(await service.admin.post(records, { host: 'long', type: 'TXT', value }));
    assert.equal((await list('?keyword=needle')).total, 1);
    assert.equal((await list('?keyword=haystack')).total, 0);
    const wide = 'ß'.repeat(30_000);
    done(await service.admin.put(`${records}/${id}`, { value: wide, remark: 'ß'.repeat(255) }));
    assert.equal((await list(`?keyword=${encodeURIComponent('ßßßß')}&limit=1`)).list[0].id, id);
    done(await service.admin.delete(`${records}/${id}`));
  });

  it('are read by an index each, in as many statements as they need', async () => {
    const columns = `remote_id, host, type, value, ttl, line, proxied, priority, weight, enabled, read_only, remark, updated_at, search`;
    const account = done(await service.admin.get('/api/accounts'))[0].id;
    for (let i = 0; i < COPIES; i++) {
      const copy = await addDomain(service.admin, account, `copy-${i}.example`, true);
      await db.run(
        `INSERT INTO dns_records (domain_id, ${columns})
         SELECT ?, ${columns.replace('remote_id', "'copy ' || remote_id")} FROM dns_records WHERE domain_id = ?`.replace(
          "'copy ' || remote_id",
          kind === 'mysql' ? "CONCAT('copy ', remote_id)" : "'copy ' || remote_id",
        ),
        [copy, domain],
      );
    }
    // what the server's own housekeeping does a minute later; SQLite has none
    if (kind === 'postgresql') await db.run('VACUUM ANALYZE dns_records');
    if (kind === 'mysql') await db.run('ANALYZE TABLE dns_records, domains');
    const lists: Record<`?${string}`, [index: RegExp, most: number]> = {
      '?host=host-7.eu&limit=20': [/dns_records_host_ix/, 3],
      '?host=host-7.eu&type=A&limit=20': [/dns_records_(host|type)_ix/, 3],
      '?type=TXT&limit=20': [/dns_records_(type|search)_ix/, 4],
      '?type=SOA&limit=20': [/dns_records_(any_)?type_ix/, 4],
      '?keyword=nowhere&limit=20': [/dns_records_search_ix/, 3],
      '?limit=20': [/dns_records_search_ix|dns_records_remote_uq/, 3],
    };
    for (const [query, [index, most]] of Object.entries(lists) as [Query, [RegExp, number]][]) {
      await list(query);
      const statements = await told(query);
      assert.ok(statements.length <= most, `${query}:\n${statements.map((s) => s.sql).join('\n')}`);
      for (const { sql, values } of statements.filter((s) => s.sql.includes('FROM dns_records'))) {
        const plan = JSON.stringify(
          await db.rows(`${kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${sql}`, values),
        );
        assert.match(plan, index, `${query}: ${sql}`);
        assert.doesNotMatch(plan, /Seq Scan on dns_records|SCAN dns_records|"table":"dns_records","type":"ALL"/);
      }
    }
  });
}
