import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ListedChangeSetsRepository, type Scope } from '../../src/changes/history/listed-change-sets.repository.js';
import type { Reader } from '../../src/domains/readable-domains.repository.js';
import { now } from '../../src/platform/common/clock.js';
import type { Db, SqlValue } from '../../src/platform/database/db.js';
import { addTeam, addUser } from '../support/database.js';
import { databases } from '../support/databases.js';
import { emptyDatabase } from '../support/leases.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';

/** domains with a permission of the user, and those of others */
const [DOMAINS, FOREIGN] = [1000, 100];
const SETS = 22_000;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`lists of change sets, on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    let lists: ListedChangeSetsRepository;
    let user: Reader;
    const admin: Reader = { userId: 0, all: true, only: null };

    const insert = async (table: string, columns: string[], rows: SqlValue[][]) => {
      const one = `(${columns.map(() => '?').join(', ')})`;
      for (let i = 0; i < rows.length; i += 500) {
        const some = rows.slice(i, i + 500);
        const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => one).join(', ')}`;
        await db.run(sql, some.flat());
      }
    };

    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      lists = new ListedChangeSetsRepository(db);
      const at = now();
      const [none, no] = ['', false];
      await insert(
        'dns_accounts',
        ['id', 'provider', 'name', 'remark', 'credentials', 'created_at', 'updated_at'],
        [[1, 'zonefile', 'a', none, none, at, at]],
      );
      const ids = Array.from({ length: DOMAINS + FOREIGN }, (_, i) => i + 1);
      const nameOf = (id: number) => `d${id}.example`;
      const columns = ['id', 'name', 'account_id', 'remote_id', 'status', 'remark', 'records_count', 'revision'];
      await insert(
        'domains',
        [...columns, 'created_at'],
        ids.map((id) => [id, nameOf(id), 1, nameOf(id), 'active', none, 0, 0, at]),
      );
      const userId = await addUser(db, { username: 'reader', password: 'correct-horse-battery-9' });
      user = { userId, all: false, only: null };
      const team = await addTeam(db, 'readers', [userId]);
      await insert(
        'domain_permissions',
        ['team_id', 'domain_id', 'domain_name', 'permission'],
        ids.slice(0, DOMAINS).map((id) => [team, id, nameOf(id), 'read']),
      );
      const set = ['id', 'domain_id', 'domain', 'door', 'actor_type', 'request_id', 'comment', 'atomic', 'background'];
      await insert(
        'change_sets',
        [...set, 'whole', 'owner', 'state', 'total', 'created_at'],
        Array.from({ length: SETS }, (_, i) => {
          const domain = (i % (DOMAINS + FOREIGN)) + 1;
          return [i + 1, domain, nameOf(domain), 'api', 'user', 'r', none, no, no, no, none, 'done', 1, at];
        }),
      );
      // what the server's own housekeeping does a minute later; SQLite has none
      if (kind === 'postgresql') await db.run('VACUUM ANALYZE');
      if (kind === 'mysql') await db.run('ANALYZE TABLE change_sets, domains, domain_permissions, team_members, users');
    });
    afterAll(() => close?.());

    /** The statements that a list is read with, and the plan of each: its lines, as text. */
    async function plansOf(scope: Scope): Promise<{ sql: string; plan: string }[]> {
      const told = tellStatements();
      await lists.page(scope, {}, 20, 0);
      const plans: { sql: string; plan: string }[] = [];
      for (const { sql, values } of told()) {
        const lines = await db.rows<object>(`${kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${sql}`, values);
        plans.push({ sql, plan: lines.map((line) => JSON.stringify(line)).join('\n') });
      }
      return plans;
    }

    /** All sets, read newest first by their key: a page or a limit ends it. */
    const BY_KEY = {
      sqlite: /"detail":"SCAN (s|change_sets)"/,
      postgresql: /Scan Backward using \\"PK_\w+\\" on change_sets/,
      mysql: /"table":"(s|change_sets)","type":"index",.*"key":"PRIMARY",.*"Extra":"(Using where)?"/,
    }[kind];
    /** The sets of one domain, by an index. */
    const BY_DOMAIN = {
      sqlite: /SEARCH s USING COVERING INDEX change_sets_\w+_ix \(domain_id=\?\)/,
      postgresql: /Index Only Scan (Backward )?using change_sets_\w+_ix on change_sets/,
      mysql: /"table":"s","type":"ref",.*"key":"change_sets_\w+_ix"/,
    }[kind];
    const WHOLE = /Seq Scan on change_sets|SCAN (s|change_sets) USING|"table":"(s|change_sets)","type":"ALL"/;

    for (const [who, scopeOf] of [
      ['an administrator', () => admin],
      ['a user with 1 000 permissions', () => user],
    ] as const)
      it(`over all domains of ${who} are read by their key, and counted by an index`, async () => {
        const [count, page, ...more] = await plansOf(scopeOf());
        assert.deepEqual(more, []);
        assert.match(page?.plan ?? '', BY_KEY, page?.sql);
        assert.match(count?.plan ?? '', BY_DOMAIN, count?.sql);
        for (const one of [page, count]) assert.doesNotMatch(one?.plan ?? '', WHOLE, one?.sql);
      });

    it('over one domain are read and counted by an index', async () => {
      for (const { plan, sql } of await plansOf(1)) {
        assert.match(plan, BY_DOMAIN, sql);
        assert.doesNotMatch(plan, WHOLE, sql);
      }
    });

    it('hold the sets of readable domains, those that are not among the newest included', async () => {
      const idsOf = async (scope: Scope, limit: number, offset: number) => {
        const { rows, total } = await lists.page(scope, {}, limit, offset);
        return [rows.map(({ id }) => id), total];
      };
      const of = (may: (domain: number) => boolean) =>
        Array.from({ length: SETS }, (_, i) => SETS - i).filter((id) => may(((id - 1) % (DOMAINS + FOREIGN)) + 1));
      const mine = of((domain) => domain <= DOMAINS);
      const three = of((domain) => domain <= 3);
      const narrowed = { ...user, only: [1, 2, 3, DOMAINS + 1] };
      for (const [limit, offset] of [
        [20, 0],
        [20, 1990],
        [50, 15],
        [20, 19_990],
      ] as const) {
        const cut = (ids: number[]) => ids.slice(offset, offset + limit);
        assert.deepEqual(await idsOf(user, limit, offset), [cut(mine), mine.length]);
        assert.deepEqual(await idsOf(admin, limit, offset), [cut(of(() => true)), SETS]);
        assert.deepEqual(await idsOf(narrowed, limit, offset), [cut(three), three.length]);
      }
      assert.deepEqual(await idsOf({ ...user, only: [] }, 20, 0), [[], 0]);
    });
  });
}
