import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { type Db, marks } from '../database/db.js';

/** lists of changes, of all domains, among which are those of the last minutes */
const NEWEST = 20_000;
/** names that one statement has */
const CHUNK = 200;

/** a change that was sent and has no answer, or is being sent */
const SENT = `((c.state = 'unknown' AND c.late IS NOT NULL AND c.settle_after > ?)
  OR (c.state = 'pending' AND c.tried_at IS NOT NULL))`;

const conflict = (name: string, ends: string | null) => {
  const when = ends ? `until ${ends}; try again then` : 'now; try again in a minute';
  return errors.conflict(`The provider may still carry out an earlier change of ${name} ${when}`);
};

/**
 * Refuses to forget domains, or to take another server for theirs, while their provider may still carry out a write
 * that was sent: whoever manages the zone beside them would not know that it may come, and what was acknowledged to
 * them could be gone with it. A minute later at most it is known.
 * @param by which domains: those of an account, or one
 * @param force only those count whose zone another domain is, too: a zone that is added anew waits, see `assertNotLate`
 * @throws AppError 409001
 */
export async function assertNothingInFlight(
  db: Db,
  manager: EntityManager,
  by: 'id' | 'account_id',
  id: number,
  force: boolean,
): Promise<void> {
  const shared = ` AND EXISTS (SELECT 1 FROM domains o JOIN dns_accounts p ON p.id = o.account_id
    WHERE o.id <> d.id AND o.remote_id = d.remote_id AND p.server_key = a.server_key)`;
  const row = await db.row<{ name: string; ends: string | null }>(
    `SELECT d.name, c.settle_after AS ends FROM domains d JOIN dns_accounts a ON a.id = d.account_id
      JOIN change_sets s ON s.domain_id = d.id AND s.state <> 'done' JOIN record_changes c ON c.change_set_id = s.id
      WHERE d.${by} = ? AND ${SENT}${force ? shared : ''} ORDER BY c.settle_after DESC LIMIT 1`,
    [id, now()],
    manager,
  );
  if (row) throw conflict(row.name, row.ends);
}

/** Of these names, those of domains that were forgotten while a write of theirs may still come, and until when. */
export async function lateNames(
  db: Db,
  names: readonly string[],
  manager?: EntityManager,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let i = 0; i < names.length; i += CHUNK) {
    const some = names.slice(i, i + CHUNK);
    const rows = await db.rows<{ domain: string; ends: string }>(
      `SELECT s.domain, MAX(c.settle_after) AS ends FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
        WHERE s.id > (SELECT COALESCE(MAX(id), 0) - ${NEWEST} FROM change_sets) AND s.domain IN (${marks(some.length)})
          AND c.state = 'unknown' AND c.late IS NOT NULL AND c.settle_after > ?
          AND NOT EXISTS (SELECT 1 FROM domains d WHERE d.id = s.domain_id) GROUP BY s.domain`,
      [...some, now()],
      manager,
    );
    for (const { domain, ends } of rows) found.set(domain, ends);
  }
  return found;
}

/** @throws AppError 409001 while a write of a domain of this name, which was forgotten, may still come */
export async function assertNotLate(db: Db, manager: EntityManager, name: string): Promise<void> {
  const ends = (await lateNames(db, [name], manager)).get(name);
  if (ends !== undefined) throw conflict(name, ends);
}
