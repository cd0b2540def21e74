import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columns, creator, foreign, index } from '../columns.js';

/** Name servers that are told of changes. Safe to repeat. */
export class TsigSecondaries1764490000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const nullable = { isNullable: true };
    await creator(runner)(
      'tsig_secondaries',
      [
        ...[c.id(), c.int('token_id'), c.str('target', 255), c.utc('told_at', nullable)],
        ...[c.str('zone', 253, nullable), c.str('error', 255, nullable)],
      ],
      [{ ...index('tsig_secondaries_uq', ['token_id', 'target']), isUnique: true }],
      [foreign('tsig_secondaries_token_fk', 'token_id', 'api_tokens')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tsig_secondaries');
  }
}
