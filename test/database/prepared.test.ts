import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ReadableDomainsRepository } from '../../src/domains/readable-domains.repository.js';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { type Db, marks } from '../../src/platform/database/db.js';
import { addTeam, addUser } from '../support/database.js';
import { databases, freshDatabase, type Kind } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

for (const { kind, skip } of databases('postgresql', 'mysql'))
  describeUnless(skip)(`statements on ${kind}`, () => suite(kind));

function suite(kind: Exclude<Kind, 'sqlite'>): void {
  let url: string;
  let drop: (() => Promise<void>) | undefined;
  const sources: AppDataSource[] = [];
  const open = async (more = ''): Promise<Db> => {
    const source = new AppDataSource(ENTITIES);
    sources.push(source);
    await source.open(parseDatabaseUrl(url + more, '.'));
    return dbOn(source);
  };
  beforeAll(async () => {
    ({ url, drop } = await freshDatabase(kind));
  });
  afterAll(async () => {
    for (const source of sources) await source.destroy();
    await drop?.();
  });

  const SQL = 'SELECT name, content FROM settings WHERE name = ?';
  /** What the server keeps for the one connection that is in use while nothing runs at once. */
  const kept = async (db: Db): Promise<string[]> => {
    if (kind === 'postgresql')
      return (await db.rows<{ statement: string }>('SELECT statement FROM pg_prepared_statements')).map(
        (r) => r.statement,
      );
    const rows = await db.rows<{ Variable_name: string; Value: string }>(`SHOW SESSION STATUS LIKE 'Com_stmt_execute'`);
    return Array(Number(rows[0]?.Value)).fill(SQL);
  };

  it('that are used often are prepared, outside and inside of transactions', async () => {
    const db = await open();
    for (let i = 0; i < 10; i++) await db.row(SQL, ['a']);
    await db.transaction(async (manager) => {
      for (let i = 0; i < 10; i++) await db.row(SQL, ['a'], manager);
    });
    const seen = (await kept(db)).filter((text) => text.includes('FROM settings WHERE name ='));
    if (kind === 'postgresql') assert.equal(seen.length, 1);
    else assert.ok(seen.length >= 10, String(seen.length));
  });

  it('of another length each time, or a single use, are not', async () => {
    const db = await open();
    const text = (count: number) => `SELECT id FROM users WHERE id IN (${marks(count)})`;
    const before = (await kept(db)).length;
    for (let count = 65; count < 80; count++)
      for (let i = 0; i < 5; i++) await db.rows(text(count), Array(count).fill(1));
    for (let count = 1; count < 20; count++) await db.rows(text(count), Array(count).fill(1));
    assert.equal((await kept(db)).length, before);
  });

  it('stay text where the address says so', async () => {
    const db = await open('?prepared=false');
    for (let i = 0; i < 10; i++) await db.row(SQL, ['a']);
    assert.deepEqual(await kept(db), []);
  });

  it('answer the same, prepared or not', async () => {
    const db = await open();
    await db.run('DELETE FROM settings WHERE name = ?', ['a']);
    const change = 'UPDATE limits SET hits = hits + ? WHERE name = ? AND hits < ?';
    await db.run(
      'INSERT INTO limits (name, hits, window_start, blocked_until, blocks, username, network) VALUES (?, 1, ?, NULL, 0, ?, ?)',
      ['n', 'w', null, '😀 ünï "q" \\ \''],
    );
    const sql = `SELECT name, hits, blocked_until, username, network, hits > ? AS more, (SELECT COUNT(*) FROM limits) AS n, hits * 1.5 AS d
      FROM limits WHERE name = ? AND hits IN (?, ?) ORDER BY name LIMIT ? OFFSET ?`;
    const answers: unknown[] = [];
    for (let i = 0; i < 8; i++) answers.push(await db.rows(sql, [0, 'n', 1, 2, 5, 0]));
    for (const answer of answers) assert.deepEqual(JSON.stringify(answer), JSON.stringify(answers[0]));
    assert.equal((answers[0] as unknown[]).length, 1);
    // the number of rows that a change met, not of those that differ afterwards
    for (let i = 0; i < 8; i++) assert.equal(await db.run(change, [0, 'n', 5]), 1);
    for (let i = 0; i < 8; i++) assert.equal(await db.run(change, [1, 'nobody', 5]), 0);
    const flags = 'SELECT COUNT(*) AS n FROM users WHERE totp_enabled = ?';
    for (let i = 0; i < 8; i++) assert.equal(Number((await db.row<{ n: number }>(flags, [false]))?.n), 0);
  });

  it('survive a change of their table by a newer process', async () => {
    const [db, newer] = [await open(), await open()];
    await newer.run('CREATE TABLE later (id INTEGER)');
    const all = () => db.rows<object>('SELECT * FROM later');
    for (let i = 0; i < 5; i++) await all();
    await newer.run('ALTER TABLE later ADD COLUMN more INTEGER');
    await newer.run('INSERT INTO later (id, more) VALUES (1, 2)');
    assert.deepEqual({ ...(await all())[0] }, { id: 1, more: 2 });
    await newer.run('ALTER TABLE later ADD COLUMN most INTEGER');
    const seen = await db.transaction(async (manager) => db.rows<object>('SELECT * FROM later', [], manager));
    assert.deepEqual({ ...seen[0] }, { id: 1, more: 2, most: null });
  });

  it('fail as what they are, and leave the connection usable', async () => {
    const db = await open();
    for (let i = 0; i < 5; i++) await assert.rejects(db.rows('SELECT nothing FROM settings WHERE name = ?', ['a']));
    await db.rows(SQL, ['a']);
    const insert = 'INSERT INTO settings (name, content) VALUES (?, ?)';
    for (let i = 0; i < 5; i++) await db.run(insert, [`k${i}`, 'x']);
    for (let i = 0; i < 5; i++)
      await assert.rejects(db.run(insert, ['k0', 'x']), (error: { code?: string }) =>
        ['23505', 'ER_DUP_ENTRY'].includes(error.code ?? ''),
      );
    let over: Parameters<Parameters<Db['transaction']>[0]>[0] | undefined;
    await db.transaction(async (manager) => {
      over = manager;
    });
    await assert.rejects(db.rows(SQL, ['a'], over), /over/);
  });

  it('are the same for every page of the domains that somebody may read', async () => {
    const db = await open();
    const userId = await addUser(db, { username: 'ada', password: 'correct-horse-battery-9' });
    await addTeam(db, 'team', [userId]);
    const texts = new Set<string>();
    const rows = db.rows.bind(db);
    db.rows = (sql, ...more) => {
      texts.add(sql);
      return rows(sql, ...more);
    };
    const reader = { userId, all: false, only: null };
    const list = (page: number) => new ReadableDomainsRepository(db).list(reader, { page, limit: 20 });
    await list(1);
    const first = texts.size;
    await list(2);
    assert.equal(texts.size, first);
  });
}
