import type { MigrationInterface, QueryRunner } from 'typeorm';

const NAME = 'dns_records_value_ix';

/**
 * Records are found by their values over all domains: the beginning of each is in an index, which MySQL and MariaDB use
 * for comparisons of the whole. See `VALUE_START`. Safe to repeat.
 */
export class RecordValues1764496000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { type } = runner.connection.options;
    if (type === 'mysql' || type === 'mariadb') {
      const known = await runner.query(`SHOW INDEX FROM dns_records WHERE Key_name = '${NAME}'`);
      if (!known.length) await runner.query(`CREATE INDEX ${NAME} ON dns_records (value(64), id)`);
    } else await runner.query(`CREATE INDEX IF NOT EXISTS ${NAME} ON dns_records (SUBSTR(value, 1, 64), id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const { type } = runner.connection.options;
    await runner.query(`DROP INDEX ${NAME}${type === 'mysql' || type === 'mariadb' ? ' ON dns_records' : ''}`);
  }
}
