import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/database/db.js';
import type { Kind } from './databases.js';
import type { Answer } from './server.js';

const WAITING: Record<Exclude<Kind, 'sqlite'>, string> = {
  postgresql: `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  mysql: `SELECT COUNT(*) AS n FROM information_schema.processlist
           WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'`,
};

/**
 * Sends changes so that all of them are past the guard and inside their transactions before any is through: the end of
 * the audit chain, which each change needs, is held until all wait for something. SQLite lets nobody in meanwhile, and
 * its one process takes turns anyway: there they are just sent together.
 */
export async function atOnce(db: Db, kind: Kind, requests: (() => Promise<Answer>)[]): Promise<Answer[]> {
  if (kind === 'sqlite') return Promise.all(requests.map((send) => send()));
  let answers: Promise<Answer[]> | undefined;
  await db.transaction(async (manager) => {
    await db.run('UPDATE audit_chain SET seq = seq WHERE id = 1', [], manager);
    answers = Promise.all(requests.map((send) => send()));
    for (let i = 0; i < 200; i++) {
      const row = await db.row<{ n: number }>(WAITING[kind]);
      if (Number(row?.n) >= requests.length) return;
      await sleep(25);
    }
  });
  return answers as unknown as Promise<Answer[]>;
}
