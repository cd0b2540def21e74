import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addTeam, addUser, grant, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Answer, Client, Server } from '../support/server.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';
import { done, made, startWorld, type World } from '../support/world.js';

const ADA = { username: 'ada', password: 'correct-horse-battery-9' };
const ROWS = 60;
/** The first uses of a token and a text of SQL are followed by statements of their own. */
const WARM = 3;
/** Of transactions, which are counted beside: one for each. */
const TRANSACTION = /^(BEGIN|START TRANSACTION)/;
/** Their ends, and what a new connection is told: how many there are is the pool's affair. */
const ENDS = /^(COMMIT|SET )/;

/** Who asks, and what about. */
interface Scene {
  server: Server;
  admin: Client;
  /** a user who may read 61 domains by a team, and write one of them */
  ada: Client;
  /** her token, and one with a rule for that domain */
  token: Client;
  ruled: Client;
  path: `/api/domains/${number}`;
  records: `/api/domains/${number}/records`;
  /** ids of records that nobody changed yet */
  ids: number[];
  tag: string;
}
type Ask = (scene: Scene, turn: string, rows: number) => Promise<Answer>;

const record = (host: string, value = '192.0.2.1') => ({ host, type: 'A', value });
const create = (host: string, value?: string) => ({ op: 'create', ...record(host, value) });
const paged =
  (path: (scene: Scene) => string, who: 'token' | 'ruled' | 'admin' = 'token'): Ask =>
  (scene, _turn, rows) =>
    scene[who].get(`${path(scene)}limit=${rows}`);

/**
 * What each request sends to the database until it is answered, without the begin and end of transactions; how many
 * transactions it makes, and how many calls of its provider, PowerDNS. Every one begins with one statement that finds
 * the session or the token, with its user and the settings of its rights and rates; one of a domain goes on with one
 * that finds the domain, its account and what may be done there.
 */
const COSTS: [what: string, statements: number, transactions: number, calls: number, ask: Ask][] = [
  ['health', 1, 0, 0, ({ server }) => server.call('GET', '/health/ready')],
  ['token check alone', 1, 0, 0, ({ token }) => token.get('/api/meta')],
  ['the token itself', 2, 0, 0, ({ token }) => token.get('/api/tokens/self')],
  ['who is signed in', 2, 0, 0, ({ ada }) => ada.get('/api/auth/me')],
  ['what a page asks first', 6, 0, 0, ({ ada }) => ada.get('/api/bootstrap')],
  ['domain', 2, 0, 0, ({ token, path }) => token.get(path)],
  // the page; what there are comes with the domain
  ['record list', 3, 0, 0, paged(({ records }) => `${records}?`)],
  [
    'record list, not changed',
    3,
    0,
    0,
    ({ token, records, tag }) => token.get(records, undefined, { 'if-none-match': tag }),
  ],
  // its rule leaves nothing out
  ['record list by a token with rules', 3, 0, 0, paged(({ records }) => `${records}?`, 'ruled')],
  // a full page: how many more there are is counted; how many there are of a type is stored
  ['records by host', 4, 0, 0, paged(({ records }) => `${records}?host=many&`)],
  ['records by type', 4, 0, 0, paged(({ records }) => `${records}?type=A&`)],
  ['records by keyword', 4, 0, 0, paged(({ records }) => `${records}?keyword=h&`)],
  ['record', 3, 0, 0, ({ token, records, ids }) => token.get(`${records}/${ids[0]}`)],
  // where somebody's domains come from, the page, their number, and what may be done in those of the page
  ['domain list', 5, 0, 0, paged(() => '/api/domains?')],
  // the domains come from the rules
  ['domain list by a token with rules', 4, 0, 0, paged(() => '/api/domains?', 'ruled')],
  // the number of all, an id that the page is not behind, the page, its domains
  ['search', 5, 0, 0, paged(() => '/api/records?')],
  // which domains there are, what is found in some of them, how many, the page, its domains
  ['search by keyword', 6, 0, 0, paged(() => '/api/records?keyword=h&')],
  // the question whether something waits to be linked, the page, the numbers of the first and the last entry
  ['audit page', 5, 0, 0, paged(() => '/api/audit/logs?', 'admin')],
  ['login', 15, 2, 0, ({ server }) => server.call('POST', '/api/auth/login', ADA)],
  // what is there, the rules of the zone in the trash, and the write
  ['record create', 24, 2, 2, ({ token, records }, turn) => token.post(records, record(`new-${turn}`))],
  [
    'record update',
    21,
    2,
    2,
    ({ token, records, ids }, turn) => token.put(`${records}/${ids[0]}`, { value: `192.0.2.${turn}` }),
  ],
  ['record delete', 23, 2, 2, ({ token, records, ids }) => token.delete(`${records}/${ids.pop()}`)],
  // the zone is read at the provider before: one statement more for each hundred of its records; the open plans of the
  // user are counted
  [
    'plan',
    32,
    3,
    1,
    ({ token, path }, turn) => token.post(`${path}/plans`, { changes: [create(`p-${turn}`)] } as never),
  ],
  // one statement more for each hundred changes that are stored, and two for the ids of the new records
  [
    'batch of 100',
    26,
    2,
    2,
    ({ token, records }, turn) =>
      token.post(`${records}/batch`, { changes: Array.from({ length: 100 }, (_, i) => create(`b-${turn}-${i}`)) }),
  ],
  // figures, the newest change sets with their outcomes, and one statement for each kind of what needs attention
  ['dashboard', 15, 0, 0, ({ token }) => token.get('/api/dashboard')],
  ['dashboard of an administrator', 20, 0, 0, ({ admin }) => admin.get('/api/dashboard')],
];

const words = (statements: number, transactions: number, calls: number) =>
  `${statements} statements, ${transactions} transactions, ${calls} calls`;

for (const { kind, skip } of databases('all'))
  describeUnless(skip || noPowerdns)(`what hot requests cost, on ${kind}`, () => {
    let world: World;
    let scene: Scene;
    let close: () => Promise<void>;

    beforeAll(async () => {
      world = await startWorld(kind);
      const { admin, server, domain, records } = world;
      const { db, close: end } = await openDatabase(world.databaseUrl, server.dataDir);
      close = end;
      const changes = Array.from({ length: ROWS }, (_, i) => [create(`h${i}`), create('many', `10.0.0.${i}`)]).flat();
      done(await admin.post(`${records}/batch`, { changes }));
      const team = await addTeam(db, 'dns', [await addUser(db, ADA)]);
      await grant(db, team, domain, 'write');
      for (const id of await addDomains(db)) await grant(db, team, id, 'read');
      const ada = server.as(await server.login(ADA));
      const rules = [{ effect: 'allow', domains: [domain] }];
      const token = server.as(made(await ada.post('/api/tokens', { name: 'plain' })).token);
      const ruled = server.as(made(await ada.post('/api/tokens', { name: 'with a rule', rules })).token);
      const listed = await token.get(records);
      const ids = done(listed)
        .list.filter(({ type }) => type === 'A')
        .map(({ id }) => id);
      const tag = listed.headers.get('etag') as string;
      scene = { server, admin, ada, token, ruled, records, ids, tag, path: `/api/domains/${domain}` };
    });
    afterAll(async () => {
      await close?.();
      await world?.stop();
    });

    async function addDomains(db: Db): Promise<number[]> {
      const names = Array.from({ length: ROWS }, (_, i) => `zone-${i}.example`);
      const common = { account_id: world.account, status: 'active', remark: '', records_count: 0, revision: 0 };
      return db.transaction(async (manager) => {
        const ids: number[] = [];
        for (const name of names)
          ids.push(await db.insert('domains', { name, remote_id: name, ...common, created_at: now() }, manager));
        return ids;
      });
    }

    /** What one request costs in words, and all that it sent. */
    async function costOf(ask: Ask, turn: string, rows: number): Promise<[cost: string, list: string]> {
      const before = world.proxy.requests.length;
      const told = tellStatements();
      const answer = await ask(scene, turn, rows);
      const sent = told().flatMap(({ sql, ofRequest }) => (ofRequest && !ENDS.test(sql) ? [sql] : []));
      assert.ok(answer.status < 400, `${answer.status} ${answer.msg}`);
      const calls = world.proxy.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
      const transactions = sent.filter((sql) => TRANSACTION.test(sql)).length;
      const list = [...sent.map((sql) => sql.replace(/\s+/g, ' ').slice(0, 200)), ...calls];
      return [words(sent.length - transactions, transactions, calls.length), list.join('\n')];
    }

    for (const [what, statements, transactions, calls, ask] of COSTS) {
      // on a server one statement reads the page and how many there are
      const less = kind !== 'sqlite' && what.startsWith('domain list') ? 1 : 0;
      const expected = words(statements - less, transactions, calls);
      it(`${what} costs ${expected}, for one row as for fifty`, async () => {
        for (let i = 0; i < WARM; i++) await ask(scene, String(i), 50);
        for (const rows of [1, 50]) {
          const [cost, list] = await costOf(ask, String(rows + 100), rows);
          assert.equal(cost, expected, `${cost}, not ${expected}:\n${list}`);
        }
      });
    }
  });
