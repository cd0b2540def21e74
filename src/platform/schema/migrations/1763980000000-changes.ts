import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

interface Intent {
  id: number;
  domain_id: number;
  domain: string;
  hosts: string;
  expected: string;
  owner: string;
  request_id: string;
  created_at: string;
}

/**
 * Lists of changes with each change take the place of intents. What is open among those becomes a list of unknown end:
 * the next look at the provider settles it. Safe to repeat.
 */
export class Changes1763980000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    const create = creator(runner);
    await create(
      'change_sets',
      [
        c.id(),
        c.int('domain_id'),
        c.str('domain', 253),
        c.str('door', 16),
        c.str('actor_type', 8),
        c.int('user_id', optional),
        c.str('username', 64, optional),
        c.int('token_id', optional),
        c.str('token_name', 255, optional),
        c.str('request_id', 64),
        c.str('comment', 255),
        c.bool('atomic'),
        c.bool('background'),
        c.bool('whole'),
        c.str('owner', 128),
        c.str('state', 8),
        c.int('revision', optional),
        c.int('total'),
        c.utc('created_at'),
        c.utc('finished_at', optional),
      ],
      [
        index('change_sets_state_ix', ['state', 'domain_id']),
        index('change_sets_domain_ix', ['domain_id', 'id']),
        index('change_sets_revision_ix', ['domain_id', 'revision']),
      ],
    );
    await create(
      'record_changes',
      [
        c.id(),
        c.int('change_set_id'),
        c.int('position'),
        c.str('op', 16),
        c.int('record_id', optional),
        c.str('host', 253),
        c.str('host_before', 253, optional),
        c.str('type', 16),
        c.json('state_before', optional),
        c.text('value_before', optional),
        c.json('state_after', optional),
        c.text('value_after', optional),
        c.str('expected', 255, optional),
        c.str('state', 16),
        c.json('error', optional),
        c.utc('tried_at', optional),
        c.utc('settle_after', optional),
      ],
      [
        index('record_changes_set_uq', ['change_set_id', 'position'], true),
        index('record_changes_record_ix', ['record_id', 'id']),
        index('record_changes_state_ix', ['change_set_id', 'state']),
      ],
      [foreign('record_changes_set_fk', 'change_set_id', 'change_sets')],
    );
    const no = runner.dataSource.options.type === 'postgres' ? 'false' : '0';
    await addColumns(runner, 'dns_records', [c.bool('pending', { default: no })]);
    if (!(await runner.hasTable('record_intents'))) return;
    const intents: Intent[] = await runner.query(
      `SELECT i.id, i.domain_id, d.name AS domain, i.hosts, i.expected, i.owner, i.request_id, i.created_at
       FROM record_intents i JOIN domains d ON d.id = i.domain_id WHERE i.state <> 'done' ORDER BY i.id`,
    );
    for (const intent of intents) await copy(runner, intent);
    await runner.query(
      `UPDATE dns_records SET pending = ${no === '0' ? '1' : 'true'} WHERE id IN (
         SELECT record_id FROM record_changes WHERE state = 'unknown' AND record_id IS NOT NULL)`,
    );
    await followIds(runner);
    await runner.dropTable('record_intents');
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await creator(runner)(
      'record_intents',
      [
        c.id(),
        c.int('domain_id'),
        c.str('op', 16),
        c.json('hosts'),
        c.json('expected'),
        c.str('owner', 128),
        c.str('state', 8),
        c.int('revision', { isNullable: true }),
        c.str('request_id', 64),
        c.utc('created_at'),
      ],
      [
        index('record_intents_state_ix', ['state', 'domain_id']),
        index('record_intents_domain_ix', ['domain_id', 'revision']),
      ],
      [foreign('record_intents_domain_fk', 'domain_id', 'domains')],
    );
    await runner.dropTable('record_changes');
    await runner.dropTable('change_sets');
    await runner.query('ALTER TABLE dns_records DROP COLUMN pending');
  }
}

/** One open intent as a list of changes without an end; a list that is there already is from a run that was cut off. */
async function copy(runner: QueryRunner, { hosts, expected, ...intent }: Intent): Promise<void> {
  const names = JSON.parse(hosts) as string[];
  const rows = JSON.parse(expected) as [number, string | null][];
  await runner.query(`DELETE FROM record_changes WHERE change_set_id = ${Number(intent.id)}`);
  await runner.query(`DELETE FROM change_sets WHERE id = ${Number(intent.id)}`);
  const changes = names.map((host, i) => ({ host, row: rows[i] }));
  for (const row of rows.slice(names.length)) changes.push({ host: names[0] ?? '@', row });
  await insert(runner, 'change_sets', {
    ...intent,
    door: 'api',
    actor_type: 'system',
    comment: '',
    atomic: false,
    background: false,
    whole: false,
    state: 'unknown',
    total: changes.length,
  });
  for (const [position, { host, row }] of changes.entries()) {
    await insert(runner, 'record_changes', {
      change_set_id: intent.id,
      position,
      op: 'update',
      record_id: row?.[0] ?? null,
      host,
      type: '',
      expected: row ? (row[1] ?? '') : null,
      state: 'unknown',
      tried_at: intent.created_at,
      settle_after: intent.created_at,
    });
  }
}

type Value = string | number | boolean | null;

function insert(runner: QueryRunner, table: string, row: Record<string, Value>): Promise<unknown> {
  const { type } = runner.dataSource.options;
  const marks = Object.keys(row).map((_, i) => (type === 'postgres' ? `$${i + 1}` : '?'));
  const values = Object.values(row).map((value) =>
    type === 'better-sqlite3' && typeof value === 'boolean' ? Number(value) : value,
  );
  return runner.query(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${marks.join(', ')})`, values);
}

/**
 * New lists get numbers above those of the intents, which stand in the audit log. SQLite and MariaDB go on behind the
 * highest number that was ever inserted, PostgreSQL behind that of its sequence.
 */
async function followIds(runner: QueryRunner): Promise<void> {
  const [{ last }] = await runner.query('SELECT COALESCE(MAX(change_set_id), 0) AS last FROM audit_logs');
  const [{ top }] = await runner.query('SELECT COALESCE(MAX(id), 0) AS top FROM change_sets');
  const highest = Math.max(Number(last), Number(top));
  if (!highest) return;
  if (runner.dataSource.options.type === 'postgres') {
    await runner.query(`SELECT setval(pg_get_serial_sequence('change_sets', 'id'), ${highest})`);
  } else if (highest > Number(top)) {
    const row = {
      id: highest,
      domain_id: 0,
      domain: '',
      door: 'api',
      actor_type: 'system',
      request_id: '',
      comment: '',
    };
    const more = { atomic: false, background: false, whole: false, owner: '', state: 'done', total: 0, created_at: '' };
    await insert(runner, 'change_sets', { ...row, ...more });
    await runner.query(`DELETE FROM change_sets WHERE id = ${highest}`);
  }
}
