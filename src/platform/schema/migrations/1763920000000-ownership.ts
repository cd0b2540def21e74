import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';
import { tellBy } from '../tell.js';

interface Grant {
  id: number;
  team_id: number;
  domain_id: number;
  domain_name: string;
  permission: string;
  host: string | null;
  owner_id: number | null;
}

/** `target` and the states are JSON text. */
interface Entry {
  user_id: number | null;
  target: string | null;
  state_before: string | null;
}

/**
 * Who gave a team its right on a domain. Rights that were given by somebody who neither owned the domain nor was an
 * administrator are ended: until now `write` was enough to hand it on. The audit log tells who gave; a right that it
 * does not tell of is kept, and so is one of somebody who is gone or whose role was once higher. Safe to repeat.
 */
export class Ownership1763920000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'domain_permissions', [columns(runner).int('granted_by', { isNullable: true })]);
    const givers = new Map<number, number>();
    for (const { user_id, target } of await entries(runner, 'permission.create')) {
      const id = Number(parsed(target).id);
      if (id && user_id !== null) givers.set(id, Number(user_id));
    }
    const ordinary = await ordinaryUsers(runner);
    const grants: Grant[] = await runner.query(
      `SELECT p.id, p.team_id, p.domain_id, p.domain_name, p.permission, p.host, d.owner_id
         FROM domain_permissions p JOIN domains d ON d.id = p.domain_id WHERE p.granted_by IS NULL ORDER BY p.id`,
    );
    let unknown = 0;
    for (const grant of grants) {
      const giver = givers.get(Number(grant.id));
      if (giver === undefined) unknown += 1;
      else if (ordinary.has(giver) && Number(grant.owner_id) !== giver) await end(runner, grant, giver);
      else await runner.query(`UPDATE domain_permissions SET granted_by = ${giver} WHERE id = ${Number(grant.id)}`);
    }
    if (unknown)
      tellBy(runner)({ permissions: unknown }, 'kept: the audit log does not tell who gave these permissions');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE domain_permissions DROP COLUMN granted_by');
  }
}

const entries = (runner: QueryRunner, action: string): Promise<Entry[]> =>
  runner.query(
    `SELECT user_id, target, state_before FROM audit_logs WHERE action = '${action}' AND result = 'ok' ORDER BY id`,
  );

const parsed = (text: string | null): { id?: unknown; role?: unknown } => JSON.parse(text ?? 'null') ?? {};

/** Users who are no administrators, and, as far as the audit log tells, never were. */
async function ordinaryUsers(runner: QueryRunner): Promise<Set<number>> {
  const users: { id: number }[] = await runner.query('SELECT id FROM users WHERE role < 2');
  const ordinary = new Set(users.map(({ id }) => Number(id)));
  for (const { target, state_before } of await entries(runner, 'user.update'))
    if (Number(parsed(state_before).role) >= 2) ordinary.delete(Number(parsed(target).id));
  return ordinary;
}

async function end(runner: QueryRunner, { id, owner_id: _owner, ...grant }: Grant, granted_by: number): Promise<void> {
  tellBy(runner)({ ...grant, granted_by }, 'a permission is ended: who gave it did not own the domain', 'warn');
  await runner.query(`DELETE FROM domain_permissions WHERE id = ${Number(id)}`);
  // of the permissions of a team on one domain exactly one is not marked as repeated
  const same = `team_id = ${Number(grant.team_id)} AND domain_id = ${Number(grant.domain_id)}`;
  const left: { id: number; repeated: unknown }[] = await runner.query(
    `SELECT id, repeated FROM domain_permissions WHERE ${same} ORDER BY id`,
  );
  if (left[0] && left.every(({ repeated }) => repeated !== null))
    await runner.query(`UPDATE domain_permissions SET repeated = NULL WHERE id = ${Number(left[0].id)}`);
}
