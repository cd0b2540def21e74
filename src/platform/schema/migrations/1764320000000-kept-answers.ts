import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, index } from '../columns.js';

/** Answers that are kept under an `Idempotency-Key`. Safe to repeat. */
export class KeptAnswers1764320000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await creator(runner)(
      'kept_answers',
      [
        c.str('id', 64, { isPrimary: true }),
        c.str('caller', 24),
        c.str('owner', 128, { isNullable: true }),
        c.utc('lease_until'),
        c.text('content'),
        c.int('size'),
        c.str('request_id', 64),
        c.utc('expires_at'),
      ],
      [
        index('kept_answers_expiry_ix', ['expires_at']),
        index('kept_answers_caller_ix', ['caller', 'expires_at', 'size']),
      ],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('kept_answers');
  }
}
