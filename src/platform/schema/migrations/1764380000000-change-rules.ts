import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns } from '../columns.js';

/** What changes of a domain's records have to keep to. Safe to repeat. */
export class ChangeRules1764380000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumns(runner, 'domains', [columns(runner).text('change_rules', { isNullable: true })]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE domains DROP COLUMN change_rules');
  }
}
