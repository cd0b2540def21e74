import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/platform/database/db.js';
import type { Kind } from './databases.js';
import type { Answer } from './server.js';

const WAITING: Record<Exclude<Kind, 'sqlite'>, string> = {
  postgresql: `SELECT pid AS id, query AS text FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  mysql: `SELECT id, info AS text FROM information_schema.processlist
           WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'`,
};

/** Returns the statements that wait for a lock, with the id of their connection. */
export const heldUp = (db: Db, kind: Exclude<Kind, 'sqlite'>): Promise<{ id: number; text: string | null }[]> =>
  db.rows(WAITING[kind]);

/** Statements of the job that links audit entries, which waits for the same table. */
const LINKING = /^\s*(DELETE|SELECT)\s.*audit_pending/s;

const LOCK: Record<Exclude<Kind, 'sqlite'>, string> = {
  postgresql: 'LOCK TABLE audit_pending IN SHARE MODE',
  mysql: 'LOCK TABLES audit_pending READ',
};

/**
 * Sends requests so that all are past the guard and inside their transactions before any commits: a lock on the table
 * of new audit entries, which each change needs, is held until all of them wait. SQLite allows only one writer in one
 * process, so there they are simply sent together.
 */
export async function atOnce(db: Db, kind: Kind, requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  if (kind === 'sqlite') return Promise.all(requests.map((send) => send()));
  let answers: Promise<Answer[]> | undefined;
  await db.transaction(async (manager) => {
    await manager.query(LOCK[kind]);
    answers = Promise.all(requests.map((send) => send()));
    let before = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const rows = await heldUp(db, kind);
      const statements = rows.filter(({ text }) => text && !LINKING.test(text)).map(({ id, text }) => `${id} ${text}`);
      // a statement of a job is over by the next look
      if (statements.filter((one) => before.has(one)).length >= requests.length) break;
      before = new Set(statements);
      await sleep(25);
    }
    if (kind === 'mysql') await manager.query('UNLOCK TABLES');
  });
  return answers as unknown as Promise<Answer[]>;
}
