import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

const PASSKEY = 'EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = sessions.user_id)';

/**
 * Sessions say what was shown in them, in place of a yes or no. A yes was a code or a passkey; which one is seen from
 * what the user has, and where nothing is left of it, it counts no more. Safe to repeat.
 */
export class ShownFactors1763930000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'sessions', [c.json('amr', { isNullable: true })]);
    if (!(await runner.hasColumn('sessions', 'second_factor'))) return;
    await runner.query(`UPDATE sessions SET amr = CASE
      WHEN method = 'passkey' THEN '["passkey"]'
      WHEN NOT second_factor THEN CASE WHEN method = 'oauth' THEN '["oauth"]' ELSE '["password"]' END
      WHEN (SELECT u.totp_enabled FROM users u WHERE u.id = sessions.user_id)
        THEN CASE WHEN method = 'oauth' THEN '["oauth","totp"]' ELSE '["password","totp"]' END
      WHEN ${PASSKEY} THEN CASE WHEN method = 'oauth' THEN '["oauth","passkey"]' ELSE '["password","passkey"]' END
      ELSE CASE WHEN method = 'oauth' THEN '["oauth"]' ELSE '["password"]' END END`);
    await runner.query('ALTER TABLE sessions DROP COLUMN second_factor');
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, 'sessions', [c.bool('second_factor', { isNullable: true })]);
    await runner.query(`UPDATE sessions SET second_factor =
      (amr LIKE '%totp%' OR amr LIKE '%recovery%' OR amr LIKE '%passkey%' OR amr LIKE '%mfa%')`);
    await runner.query('ALTER TABLE sessions DROP COLUMN amr');
  }
}
