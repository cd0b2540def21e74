import { domainToUnicode } from 'node:url';
import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

// the text that is searched as this migration makes it: later versions may make another one
const SEARCH_LENGTH = 2500;
const DIGITS = '\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f';
const replaced = (unit: string) =>
  `\x0f${unit
    .charCodeAt(0)
    .toString(16)
    .padStart(4, '0')
    .replace(/./g, (digit) => DIGITS[Number.parseInt(digit, 16)] as string)}`;
const readable = (text: string): string =>
  text.includes('xn--') ? text.replace(/xn--[^\s.]+/g, (label) => domainToUnicode(label) || label) : '';
const recordSearch = ({ host, value, remark }: { host: string; value: string; remark: string }): string =>
  [host, readable(host), remark, readable(value), value.slice(0, SEARCH_LENGTH)]
    .filter(Boolean)
    .map((part) => part.toLowerCase().replace(/[^ -~]/g, replaced))
    .join('\n')
    .slice(0, SEARCH_LENGTH);

const BATCH = 200;
const INDICES = [
  index('dns_records_host_ix', ['domain_id', 'host', 'id']),
  index('dns_records_type_ix', ['domain_id', 'type', 'id']),
  index('dns_records_search_ix', ['domain_id', 'id', 'search']),
];
const OLD = [
  index('dns_records_name_ix', ['domain_id', 'host', 'type']),
  index('dns_records_page_ix', ['domain_id', 'id']),
];

/** Lists of records: an index for each filter, exact counts by type, and one text to search. Safe to repeat. */
export class Lists1763960000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const mysql = ['mysql', 'mariadb'].includes(runner.dataSource.options.type);
    // what is searched is ASCII; in utf8mb4 it would fit no index, and be compared character by character
    if (mysql && !(await runner.hasColumn('dns_records', 'search')))
      await runner.query(
        `ALTER TABLE dns_records ADD COLUMN search varchar(${SEARCH_LENGTH}) CHARACTER SET ascii COLLATE ascii_bin`,
      );
    await addColumns(runner, 'dns_records', [c.str('search', SEARCH_LENGTH, { isNullable: true })]);
    await this.fill(runner);
    const have = async (name: string) =>
      (await runner.getTable('dns_records'))?.indices.some((i) => i.name === name) ?? false;
    for (const one of INDICES)
      if (!(await have(one.name as string))) await runner.createIndex('dns_records', new TableIndex(one));
    for (const { name } of OLD) if (await have(name as string)) await runner.dropIndex('dns_records', name as string);
    await creator(runner)(
      'record_counts',
      [c.int('domain_id', { isPrimary: true }), c.str('type', 16, { isPrimary: true }), c.int('hits')],
      [],
      [foreign('record_counts_domain_fk', 'domain_id', 'domains')],
    );
    await runner.query('DELETE FROM record_counts');
    await runner.query(
      `INSERT INTO record_counts (domain_id, type, hits)
       SELECT domain_id, type, COUNT(*) FROM dns_records GROUP BY domain_id, type`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('record_counts', true);
    for (const one of OLD) await runner.createIndex('dns_records', new TableIndex(one));
    for (const { name } of INDICES) await runner.dropIndex('dns_records', name as string);
    await runner.query('ALTER TABLE dns_records DROP COLUMN search');
  }

  /** The text of the rows that have none yet. */
  private async fill(runner: QueryRunner): Promise<void> {
    const postgres = runner.dataSource.options.type === 'postgres';
    const query = (sql: string, values: (string | number)[]) => {
      let n = 0;
      return runner.query(postgres ? sql.replace(/\?/g, () => `$${++n}`) : sql, values);
    };
    for (let last = 0; ; ) {
      const rows = (await query(
        `SELECT id, host, value, remark FROM dns_records WHERE id > ? AND search IS NULL ORDER BY id LIMIT ${BATCH}`,
        [last],
      )) as { id: number; host: string; value: string; remark: string }[];
      if (!rows.length) return;
      await query(
        `UPDATE dns_records SET search = CASE id ${rows.map(() => 'WHEN ? THEN ?').join(' ')} END
          WHERE id IN (${rows.map(() => '?').join(', ')})`,
        [...rows.flatMap((row) => [row.id, recordSearch(row)]), ...rows.map((row) => row.id)],
      );
      last = rows.at(-1)?.id as number;
    }
  }
}
