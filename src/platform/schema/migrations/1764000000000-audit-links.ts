import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator } from '../columns.js';

const OF_CHAIN = ['start_seq', 'start_hash', 'unsealed_seq', 'secret', 'signature'];

/**
 * Audit entries wait in a table of their own until they are linked; hashes are sealed, the ends signed; rules notify.
 */
export class AuditLinks1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    await creator(runner)('audit_pending', [
      c.id(),
      c.utc('created_at'),
      c.str('actor_type', 8),
      c.int('user_id', optional),
      c.str('username', 64, optional),
      c.int('token_id', optional),
      c.str('token_name', 255, optional),
      c.str('action', 64),
      c.str('domain', 253, optional),
      c.int('domain_id', optional),
      c.json('target', optional),
      c.json('state_before', optional),
      c.json('state_after', optional),
      c.str('result', 8),
      c.text('error', optional),
      c.str('ip', 45),
      c.str('user_agent', 255),
      c.str('request_id', 64),
      c.int('change_set_id', optional),
    ]);
    await creator(runner)('audit_rule_states', [
      c.str('rule_id', 32, { isPrimary: true }),
      c.utc('checked_at'),
      c.utc('fired_at', optional),
    ]);
    await addColumns(runner, 'audit_logs', [c.str('seal', 64, optional)]);
    await addColumns(runner, 'audit_chain', [
      c.int('start_seq', optional),
      c.str('start_hash', 64, optional),
      c.int('unsealed_seq', optional),
      c.text('secret', optional),
      c.str('signature', 128, optional),
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    const [waiting] = await runner.query('SELECT id FROM audit_pending LIMIT 1');
    if (waiting) throw new Error('Audit entries wait to be linked: start the service once, then go back');
    await runner.dropTable('audit_rule_states');
    await runner.dropTable('audit_pending');
    await runner.query('ALTER TABLE audit_logs DROP COLUMN seal');
    for (const name of OF_CHAIN) await runner.query(`ALTER TABLE audit_chain DROP COLUMN ${name}`);
  }
}
