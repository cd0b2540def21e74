import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { requests, statements } from '../../bench/grown.mjs';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import { Jobs, type Scheduled } from '../../src/platform/jobs/jobs.js';
import { passwordHash } from '../../src/users/passwords.js';
import { openDatabase, withoutRates } from '../support/database.js';
import { databases, type Kind } from '../support/databases.js';
import { faultsOf } from '../support/plans.js';
import { applicationOf, type Service, startService } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, made } from '../support/world.js';

const SIZE = { count: 2000, each: 10 };
/** rows of a table beyond which reading all of them is too much */
const MANY = 300;

/** What may read or sort all rows of a table, by its statement, and why. */
const ALLOWED: [RegExp, string][] = [
  [
    /^SELECT COUNT\(\*\) AS n FROM (users|teams t|domains mine|jobs|deliveries) WHERE 1 = 1( AND (role = |\(?\S+ LIKE ).*)?$/,
    'the exact total of all, or of a keyword, of some thousand rows',
  ],
  [/^SELECT COUNT\(\*\) AS n FROM jobs WHERE \(state = /, 'jobs that have ended are kept for days'],
  [/ FROM jobs WHERE \(state = .* ORDER BY id DESC/, 'the same'],
  [/^SELECT SUM\(d\.records_count\)/, 'the exact total of all records, of one number a domain'],
  [/^SELECT SUM\(\(SELECT COUNT\(\*\) FROM change_sets/, 'the exact total of all change sets, domain by domain'],
  [/^SELECT f\.provider, f\.state, COUNT/, 'the overview counts domains by provider and state'],
  [
    / FROM delegations k JOIN domains d .* k\.broken <> /,
    'the overview counts broken delegations, of one row a domain',
  ],
  [/ FROM certificates c JOIN domains d .* c\.valid_to < /, 'the overview: at most a few hosts of each watched domain'],
  [/ FROM domains mine JOIN domains d .* ORDER BY d\.records_count/, 'an index would be written with each record'],
  [/ FROM domains mine WHERE .* mine\.name LIKE /, 'a keyword is looked for in all names'],
  [/ FROM domains d WHERE d\.id > \S+ AND d\.watch_certificates/, 'once an hour, which domains are watched'],
  [/ FROM domains mine JOIN domains d .* ORDER BY d\.expires_at/, 'PostgreSQL sorts some thousand domains as quickly'],
  [/ FROM users WHERE .* ORDER BY COALESCE\(last_login_at/, 'an index would be written with each login'],
  [/ FROM dns_records WHERE domain_id = \S+ ORDER BY .*SUBSTR\(value/, 'only by the whole value one zone is sorted'],
  [
    /^SELECT d\.id, d\.records_count FROM domains d WHERE /,
    'a keyword, which no index of all three databases finds, is looked for in some domains after the others',
  ],
  [
    /^SELECT (MIN|MAX)\(\(SELECT r\.id FROM dns_records r /,
    'PostgreSQL reads the row of each domain, and of its records no more than a page needs',
  ],
  [/ ORDER BY COALESCE\(id, 0\) /, 'of each domain what a page needs, or what is found in some ten thousand records'],
  [/^SELECT COUNT\(\*\) AS n FROM \w+$/, 'the rows of each table, for who looks after the database'],
  [/ FROM failover_rules$/, 'all rules are looked at every few seconds anyway'],
  [/ FROM failover_rules WHERE domain_id IN \(SELECT domain_id FROM failovers/, 'the same'],
  [/ FROM failover_rules r JOIN failovers f /, 'the same'],
  [/^SELECT CASE WHEN \(kind = 'scheduled'/, 'jobs by state; those that have ended are kept for days'],
  [/^DELETE FROM (token_uses|limits|mails|deliveries|jobs|certificates) /, 'once an hour, or a day'],
  [/ FROM api_tokens ApiToken WHERE \(\(ApiToken.narrowed = /, 'once an hour'],
  [/^SELECT id FROM domains WHERE id IN \(/, 'once an hour, whether many domains are still there'],
  [/ FROM domains d LEFT JOIN delegations k /, 'what is due of one row a domain, every five minutes'],
  [/ FROM trashed_domains /, 'domains are in the trash for 30 days'],
];

/** The exact number of an administrator's domains, beside a page of them. */
const COUNTED = /, \(SELECT COUNT\(\*\) AS n FROM domains mine\s+WHERE 1 = 1\) AS total/;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`with ${SIZE.count} domains, on ${kind}`, () => {
    let service: Service;
    let db: Db;
    let close: () => Promise<void>;
    let small: number;
    /** rows by table */
    const sizes = new Map<string, number>();

    beforeAll(async () => {
      service = await startService(kind, { LOG_LEVEL: 'error' });
      const { admin, server, databaseUrl } = service;
      ({ db, close } = await openDatabase(databaseUrl, server.dataDir));
      await withoutRates(db);
      for (const sql of statements(SIZE, await passwordHash('x', 4))) await db.run(sql);
      for (const table of await numbered(db, kind))
        await db.rows(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT MAX(id) + 1 FROM ${table}))`);
      small = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'small.example', true);
      const tables = await tablesOf(db, kind);
      for (const table of tables)
        sizes.set(table, Number((await db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`))?.n));
      // what the housekeeping of a server does a minute later; SQLite has none
      if (kind === 'postgresql') await db.run('VACUUM ANALYZE');
      if (kind === 'mysql') for (const table of tables) await db.rows(`ANALYZE TABLE ${table}`);
    });
    afterAll(async () => {
      await close?.();
      await service?.stop();
    });

    /** What the plans of statements read, or sort, wholly, unless it may. */
    const faults = async (told: { sql: string; values: SqlValue[] }[]) => {
      const found: string[] = [];
      const seen = new Set<string>();
      for (const { sql, values } of told) {
        const text = sql.replace(/["`]/g, '').replace(/\s+/g, ' ').trim();
        if (!/^(SELECT|UPDATE|DELETE)\b/i.test(text) || seen.has(text)) continue;
        seen.add(text);
        if (ALLOWED.some(([which]) => which.test(text))) continue;
        for (const fault of await faultsOf(
          db,
          kind,
          sql.replace(COUNTED, ''),
          values,
          (table) => (sizes.get(table) ?? 0) > MANY,
        ))
          found.push(`${fault}: ${text}`);
      }
      return found;
    };

    it('no request reads or sorts all of a table that grows', async () => {
      const { server, token } = service;
      const session = await server.login({ username: `user-${SIZE.count}`, password: 'x' });
      const user = made(await server.as(session).post('/api/tokens', { name: 'x' })).token;
      const credentials = { admin: token, user, session, nobody: undefined };
      const found: Record<string, string[]> = {};
      let n = 0;
      for (const [what, { method = 'GET', path, who, body }] of Object.entries(requests(SIZE, small))) {
        const told = tellStatements();
        const answer = await server.call(method, path, body?.(n++), credentials[who ?? 'admin']);
        const statements = told();
        assert.equal(answer.code, 0, `${what}: ${answer.msg}`);
        const faulty = await faults(statements);
        if (faulty.length) found[what] = faulty;
      }
      assert.deepEqual(found, {});
    });

    it('no job reads or sorts all of a table that grows', async () => {
      const scheduled = applicationOf(service.server.dataDir)?.get(Jobs).scheduled ?? new Map<string, Scheduled>();
      assert.ok(scheduled.size > 10);
      const found: Record<string, string[]> = {};
      for (const [name, { run }] of scheduled) {
        const told = tellStatements();
        // some ask name servers and hosts, which are not there
        await run(AbortSignal.timeout(2000)).catch(() => undefined);
        const faulty = await faults(told());
        if (faulty.length) found[name] = faulty;
      }
      assert.deepEqual(found, {});
    });
  });
}

async function tablesOf(db: Db, kind: Kind): Promise<string[]> {
  const sql =
    kind === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${kind === 'mysql' ? 'DATABASE()' : "'public'"}`;
  return (await db.rows<{ name: string }>(sql)).map(({ name }) => name);
}

/** The tables whose sequences do not advance for ids that are given. */
async function numbered(db: Db, kind: Kind): Promise<string[]> {
  if (kind !== 'postgresql') return [];
  const sql = `SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'id' AND column_default LIKE 'nextval%'`;
  return (await db.rows<{ name: string }>(sql)).map(({ name }) => name);
}
