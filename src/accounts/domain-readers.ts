import type { EntityManager } from 'typeorm';
import type { Db } from '../database/db.js';
import type { Readers } from '../events/events.js';

/**
 * Who may read domains that are about to be removed: afterwards nobody can tell any more. Administrators read all.
 * @param column what names them: one domain, or all of an account
 */
export async function readersOf(
  db: Db,
  manager: EntityManager,
  column: 'id' | 'account_id',
  value: number,
): Promise<Map<number, Readers>> {
  const rows = await db.rows<{ id: number; owner_id: number | null; team_id: number | null }>(
    `SELECT DISTINCT d.id, d.owner_id, p.team_id
       FROM domains d LEFT JOIN domain_permissions p ON p.domain_id = d.id WHERE d.${column} = ?`,
    [value],
    manager,
  );
  const found = new Map<number, Readers>();
  for (const { id, owner_id, team_id } of rows) {
    const readers = found.get(id) ?? { owner: owner_id, teams: [] };
    if (team_id !== null) readers.teams.push(team_id);
    found.set(id, readers);
  }
  return found;
}
