import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Principal, Role } from '../../src/access/access.js';
import { DnsRecordsRepository } from '../../src/cache/dns-records.repository.js';
import { recordSearch } from '../../src/cache/record-search.js';
import { DomainPolicy } from '../../src/domains/domain-policy.js';
import { DomainSummariesRepository } from '../../src/domains/domain-summaries.repository.js';
import { ReadableDomainsRepository } from '../../src/domains/readable-domains.repository.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import { AllowedRecords } from '../../src/records/allowed-records.js';
import type { SearchQuery } from '../../src/records/search/search.dto.js';
import { RecordSearch } from '../../src/records/search/search.service.js';
import type { TokenRule } from '../../src/tokens/rules/token-rules.js';
import { addTeam, addUser } from '../support/database.js';
import { databases } from '../support/databases.js';
import { emptyDatabase } from '../support/leases.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';

const [DOMAINS, EACH] = [1000, 100];
/** of the domains, those that the user may read */
const READABLE = 900;
/** domains of ten thousand records, and the other values of a statement */
const PIECE = 110;
const SAID = 'a token whose rules SQL can say';
const BY_DOMAIN = 'a token with rules for domains';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`the search over ${DOMAINS * EACH} records of ${DOMAINS} domains, on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    let search: RecordSearch;
    let user: Principal;

    const insert = async (table: string, columns: string[], rows: SqlValue[][]) => {
      const one = `(${columns.map(() => '?').join(', ')})`;
      for (let i = 0; i < rows.length; i += 500) {
        const some = rows.slice(i, i + 500);
        await db.run(
          `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => one).join(', ')}`,
          some.flat(),
        );
      }
    };
    const principal = (more: Partial<Principal>): Principal => ({
      ...{ kind: 'user', userId: 0, username: 'x', role: Role.Super, sessionId: null, lacksSecondFactor: false },
      ...{ ratePerMinute: 0, token: null },
      ...more,
    });
    const token = (rules: TokenRule[], of = principal({})): Principal => ({
      ...of,
      kind: 'token',
      token: { id: 1, name: 't', allowedDomains: null, allowedServices: ['*'], rules },
    });
    /** A tenth are TXT, each domain has one `www`, and one of a thousand has a word of its own. */
    const recordOf = (id: number) => {
      const [domain, i] = [((id - 1) % DOMAINS) + 1, Math.floor((id - 1) / DOMAINS)];
      const type = i % 10 === 0 ? 'TXT' : 'A';
      const value =
        type === 'TXT' ? `v=spf1 include:_spf${id % 50}.example -all` : `10.${i}.${(id >> 8) & 255}.${id & 255}`;
      return {
        id,
        domain,
        host: i === 7 ? 'www' : `h${i}`,
        type,
        value,
        remark: id % 1000 === 0 ? `needle ${id}` : '',
      };
    };
    const all = Array.from({ length: DOMAINS * EACH }, (_, i) => recordOf(i + 1));
    const idsOf = (some: { id: number }[]) => some.map(({ id }) => id);
    const byId = new Map(all.map((one) => [one.id, one]));
    const inOrder = (ids: number[], sort: string) => {
      const column = sort.replace('-', '') as 'id' | 'host' | 'type';
      const place = (id: number) => byId.get(id)?.[column] ?? '';
      const sorted = ids.toSorted((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : a - b));
      return sort.startsWith('-') ? sorted.reverse() : sorted;
    };
    /** how many domains a statement names */
    const domainsOf = (sql: string, values: readonly SqlValue[]) =>
      /domain_id IN \((\?|\$1\b)/.test(sql) ? values.length : Number.POSITIVE_INFINITY;

    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      const rows = new DnsRecordsRepository(db);
      const policy = new DomainPolicy(new ReadableDomainsRepository(db));
      search = new RecordSearch(rows, new AllowedRecords(rows), policy, new DomainSummariesRepository(db));
      const at = now();
      const [none, no] = ['', false];
      const account = ['id', 'provider', 'name', 'remark', 'credentials', 'created_at', 'updated_at'];
      await insert('dns_accounts', account, [
        [1, 'zonefile', 'a', none, none, at, at],
        [2, 'zonefile', 'b', none, none, at, at],
      ]);
      const ids = Array.from({ length: DOMAINS }, (_, i) => i + 1);
      const nameOf = (id: number) => `d${id}.example`;
      const columns = ['id', 'name', 'account_id', 'remote_id', 'status', 'remark', 'records_count', 'revision'];
      await insert(
        'domains',
        [...columns, 'created_at'],
        ids.map((id) => [id, nameOf(id), id % 10 ? 1 : 2, nameOf(id), 'active', none, EACH, 0, at]),
      );
      const userId = await addUser(db, { username: 'reader', password: 'correct-horse-battery-9' });
      user = principal({ userId, role: Role.User });
      const team = await addTeam(db, 'readers', [userId]);
      await insert(
        'domain_permissions',
        ['team_id', 'domain_id', 'domain_name', 'permission'],
        ids.slice(0, READABLE).map((id) => [team, id, nameOf(id), 'read']),
      );
      const record = [
        'id',
        'domain_id',
        'remote_id',
        'host',
        'type',
        'value',
        'ttl',
        'line',
        'proxied',
        'enabled',
        'remark',
      ];
      await insert(
        'dns_records',
        [...record, 'read_only', 'updated_at', 'search'],
        all.map((r) => [
          r.id,
          r.domain,
          `${r.id}`,
          r.host,
          r.type,
          r.value,
          300,
          none,
          no,
          r.id % 100 !== 0,
          r.remark,
          no,
          at,
          recordSearch(r),
        ]),
      );
      // what the server's own housekeeping does a minute later; SQLite has none
      if (kind === 'postgresql') await db.run('VACUUM ANALYZE');
      if (kind === 'mysql') await db.run('ANALYZE TABLE dns_records, domains, domain_permissions, team_members, users');
    });
    afterAll(() => close?.());

    const ask = (me: Principal, query: Partial<SearchQuery>) => search.list(me, query, () => false);

    /** The filters, and what they find among all records. */
    const FILTERS: [Partial<SearchQuery>, (record: (typeof all)[number]) => boolean][] = [
      [{}, () => true],
      [{ host: 'WWW' }, ({ host }) => host === 'www'],
      [{ type: 'txt' }, ({ type }) => type === 'TXT'],
      [{ type: 'A,TXT', host: 'h3' }, ({ host }) => host === 'h3'],
      [{ value: '10.5.1.244' }, ({ value }) => value === '10.5.1.244'],
      [{ keyword: 'Needle' }, ({ remark }) => remark !== ''],
      // of which there are some thousand pages
      [{ keyword: 'spf' }, ({ type }) => type === 'TXT'],
      [{ keyword: 'needle', host: 'h9' }, ({ remark, host }) => remark !== '' && host === 'h9'],
      [{ keyword: 'needle', account_id: 2 }, ({ remark, domain }) => remark !== '' && domain % 10 === 0],
      [{ account_id: 2, type: 'TXT', enabled: false }, ({ id, type }) => type === 'TXT' && id % 100 === 0],
      [{ domain: 'D17.example' }, ({ domain }) => domain === 17],
      [{ domain: '17', type: 'A' }, ({ domain, type }) => domain === 17 && type === 'A'],
      [{ account_id: 2 }, ({ domain }) => domain % 10 === 0],
      [{ enabled: false }, ({ id }) => id % 100 === 0],
      [{ host: 'nowhere' }, () => false],
    ];
    const callers: [string, () => Principal, (record: (typeof all)[number]) => boolean][] = [
      ['an administrator', () => principal({}), () => true],
      ['a user with 900 permissions', () => user, ({ domain }) => domain <= READABLE],
      [
        SAID,
        () => token([{ effect: 'allow', hosts: ['www', 'h1', 'h3'], types: ['A'] }]),
        ({ host, type }) => type === 'A' && ['www', 'h1', 'h3'].includes(host),
      ],
      [
        BY_DOMAIN,
        () =>
          token(
            [
              { effect: 'allow', hosts: ['h1', 'h3'], types: ['A'], domains: [3, 17, 950] },
              { effect: 'deny', domains: [17], types: ['A'], hosts: ['h1'] },
            ],
            user,
          ),
        ({ host, type, domain }) =>
          type === 'A' && ((domain === 3 && ['h1', 'h3'].includes(host)) || (domain === 17 && host === 'h3')),
      ],
    ];
    for (const [who, me, may] of callers)
      it(`${who} finds what they may read, page by page`, async () => {
        for (const [query, matches] of FILTERS) {
          const wanted = idsOf(all.filter((one) => matches(one) && may(one)));
          for (const [page, sort] of [
            [1, 'id'],
            [3, 'id'],
            [1, '-id'],
            // behind the middle
            [Math.ceil(wanted.length / 20), 'id'],
            [Math.ceil(wanted.length / 20), '-id'],
            [Math.ceil(wanted.length / 20) + 2, 'id'],
            [2, 'host'],
            [Math.ceil(wanted.length / 20), '-type'],
          ] as const) {
            if (!page) continue;
            const told = tellStatements();
            const { total, list } = await ask(me(), { ...query, page, limit: 20, sort });
            const statements = told().filter(({ sql }) => sql.startsWith('SELECT'));
            const some = inOrder(wanted, sort);
            assert.deepEqual(
              [total, idsOf(list)],
              [wanted.length, some.slice((page - 1) * 20, page * 20)],
              JSON.stringify(query),
            );
            // batch by batch, where rules are judged here, or no index finds it
            const isLookedFor = !query.host && (query.keyword || query.enabled !== undefined);
            if (who === BY_DOMAIN) continue;
            assert.ok(statements.length <= (isLookedFor ? 25 : 4), JSON.stringify(statements));
            if (isLookedFor && who !== SAID)
              for (const { sql, values } of statements.filter((one) => /\b(search|enabled) (LIKE|=)/.test(one.sql)))
                assert.ok(/LIMIT \S+ OFFSET/.test(sql) || domainsOf(sql, values) <= PIECE, sql);
          }
        }
      });

    /** Read and counted by an index of the table of records, which ends with the page. */
    for (const [what, query, used] of [
      ['a host', { host: 'www' }, /dns_records_any_host_ix/],
      ['a type', { type: 'TXT' }, /dns_records_any_type_ix/],
      ['a value', { value: '10.5.1.244' }, /dns_records_value_ix/],
      ['the order of hosts', { sort: 'host' }, /dns_records_any_host_ix/],
      ['the order of types', { sort: 'type' }, /dns_records_any_type_ix/],
    ] as const)
      it(`an administrator finds ${what} by an index`, async () => {
        const told = tellStatements();
        await ask(principal({}), { ...query, page: 1, limit: 20 });
        const [page] = told().filter(({ sql }) => /FROM dns_records/.test(sql));
        const explain = kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
        const lines = await db.rows<object>(`${explain} ${page?.sql}`, page?.values);
        assert.match(lines.map((line) => JSON.stringify(line)).join('\n'), used, page?.sql);
      });
  });
}
