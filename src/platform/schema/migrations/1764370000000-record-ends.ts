import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, index } from '../columns.js';

const TABLE = 'dns_records';
const INDEX = 'dns_records_ends_ix';

/** Records may have an end, with who set it. Safe to repeat. */
export class RecordEnds1764370000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    await addColumns(runner, TABLE, [
      c.utc('expires_at', { isNullable: true }),
      c.int('end_maker_id', { isNullable: true }),
      c.int('end_maker_token_id', { isNullable: true }),
      c.text('end_hold_reason', { isNullable: true }),
    ]);
    const known = (await runner.getTable(TABLE))?.indices.some((one) => one.name === INDEX);
    if (!known) await runner.createIndex(TABLE, new TableIndex(index(INDEX, ['expires_at', 'id'])));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex(TABLE, INDEX);
    for (const column of ['expires_at', 'end_maker_id', 'end_maker_token_id', 'end_hold_reason'])
      await runner.query(`ALTER TABLE ${TABLE} DROP COLUMN ${column}`);
  }
}
