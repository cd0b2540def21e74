import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { Db } from '../../src/platform/database/db.js';
import { passwordHash } from '../../src/users/passwords.js';
import { dbOn } from './db.js';
import { applicationOf } from './server.js';

/**
 * Direct SQL access to the database of a running service. SQLite allows one writer at a time, and a second connection
 * in the same process would block the first: there the service's own connection is used.
 */
export async function openDatabase(url: string, dataDir: string): Promise<{ db: Db; close(): Promise<void> }> {
  if (url.startsWith('sqlite:') && applicationOf(dataDir)) {
    const own = () => applicationOf(dataDir)?.get(Db) as object;
    const bound = (_: object, name: string) => {
      const value = Reflect.get(own(), name);
      return typeof value === 'function' ? value.bind(own()) : value;
    };
    // the current service: it may have been restarted
    return { db: new Proxy({}, { get: bound }) as Db, close: async () => undefined };
  }
  const source = new AppDataSource(ENTITIES);
  await source.prepare(parseDatabaseUrl(url, dataDir));
  await source.initialize();
  return { db: dbOn(source), close: () => source.destroy() };
}

/** Disables all rate limits directly in the database: the API enforces bounds for logins that some tests exceed. */
export async function withoutRates(db: Db): Promise<void> {
  const values = { rate_limits: { login: 0, public: 0, user: 0, token: 0 } };
  await db.run("DELETE FROM settings WHERE name = 'security'");
  const row = JSON.stringify({ values, super: values });
  await db.run('INSERT INTO settings (name, content) VALUES (?, ?)', ['security', row]);
}

/** Inserts a user with this role directly. @returns the id */
export async function addUser(db: Db, user: { username: string; password: string }, role = 1): Promise<number> {
  await db.run(
    `INSERT INTO users (username, username_key, nickname, password_hash, role, status, language, totp_enabled, created_at)
     VALUES (?, ?, ?, ?, ?, 1, 'en', ?, ?)`,
    [user.username, user.username, user.username, await passwordHash(user.password, 4), role, false, now()],
  );
  return idOf(db, 'SELECT id FROM users WHERE username_key = ?', user.username);
}

/** Inserts a team of these users. @returns the id */
export async function addTeam(db: Db, name: string, userIds: number[]): Promise<number> {
  await db.run(`INSERT INTO teams (name, description, created_at) VALUES (?, '', ?)`, [name, now()]);
  const team = await idOf(db, 'SELECT id FROM teams WHERE name = ?', name);
  for (const user of userIds) {
    await db.run(`INSERT INTO team_members (team_id, user_id, role, joined_at) VALUES (?, ?, 'member', ?)`, [
      team,
      user,
      now(),
    ]);
  }
  return team;
}

/** Grants a team a right on a domain. */
export async function grant(db: Db, team: number, domain: number, permission: 'read' | 'write'): Promise<void> {
  const row = await db.row<{ name: string }>('SELECT name FROM domains WHERE id = ?', [domain]);
  await db.run('INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission) VALUES (?, ?, ?, ?)', [
    team,
    domain,
    row?.name ?? '',
    permission,
  ]);
}

const idOf = async (db: Db, sql: string, value: string): Promise<number> =>
  Number((await db.row<{ id: number }>(sql, [value]))?.id);
