import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/platform/database/db.js';
import type { Kind } from './databases.js';
import type { Answer } from './server.js';

const WAITING: Record<Exclude<Kind, 'sqlite'>, string> = {
  postgresql: `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  mysql: `SELECT COUNT(*) AS n FROM information_schema.processlist
           WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'`,
};

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
    for (let i = 0; i < 200; i++) {
      const row = await db.row<{ n: number }>(WAITING[kind]);
      if (Number(row?.n) >= requests.length) break;
      await sleep(25);
    }
    if (kind === 'mysql') await manager.query('UNLOCK TABLES');
  });
  return answers as unknown as Promise<Answer[]>;
}
