import {
  Column,
  type ColumnOptions,
  PrimaryGeneratedColumn,
  type QueryRunner,
  Table,
  type TableColumnOptions,
  type TableForeignKeyOptions,
  TableIndex,
  type TableIndexOptions,
} from 'typeorm';

/**
 * Portable column types for SQLite, MariaDB/MySQL and PostgreSQL. Entities use the decorators, migrations the `columns`
 * of a runner; both define the same types, so that the schema does not drift (`test/database` checks it).
 */
export const Id = () => PrimaryGeneratedColumn('increment');
export const Int = (more: ColumnOptions = {}) => Column({ type: Number, ...more });
export const Bool = (more: ColumnOptions = {}) => Column({ type: Boolean, ...more });
export const Str = (length: number, more: ColumnOptions = {}) => Column({ type: 'varchar', length, ...more });
export const Text = (more: ColumnOptions = {}) => Column({ type: 'text', ...more });
export const Json = (more: ColumnOptions = {}) => Column({ type: 'simple-json', ...more });
/** A time: ISO 8601 UTC with milliseconds, 24 characters, set by the service; sorts as text on every database. */
export const Utc = (more: ColumnOptions = {}) => Column({ type: 'varchar', length: 24, ...more });

type More = Partial<TableColumnOptions>;

/** The same types for `new Table({...})`. */
export function columns(runner: QueryRunner) {
  const { driver } = runner.dataSource;
  const type = (kind: NumberConstructor | BooleanConstructor) => driver.normalizeType({ type: kind });
  return {
    id: (): TableColumnOptions => ({
      name: 'id',
      type: type(Number),
      isPrimary: true,
      isGenerated: true,
      generationStrategy: 'increment',
    }),
    int: (name: string, more: More = {}): TableColumnOptions => ({ name, type: type(Number), ...more }),
    bool: (name: string, more: More = {}): TableColumnOptions => ({ name, type: type(Boolean), ...more }),
    str: (name: string, length: number, more: More = {}): TableColumnOptions => ({
      name,
      type: 'varchar',
      length: String(length),
      ...more,
    }),
    text: (name: string, more: More = {}): TableColumnOptions => ({ name, type: 'text', ...more }),
    json: (name: string, more: More = {}): TableColumnOptions => ({ name, type: 'text', ...more }),
    utc: (name: string, more: More = {}): TableColumnOptions => ({ name, type: 'varchar', length: '24', ...more }),
  };
}

export const index = (name: string, columnNames: string[], isUnique = false): TableIndexOptions => ({
  name,
  columnNames,
  isUnique,
});

/** Indices that are added to tables: table, name, columns. */
export type AddedIndices = readonly [table: string, name: string, columns: string[]][];

/** Makes those that are not there. */
export async function addIndices(runner: QueryRunner, indices: AddedIndices): Promise<void> {
  for (const [table, name, columns] of indices) {
    const known = (await runner.getTable(table))?.indices.some((one) => one.name === name);
    if (!known) await runner.createIndex(table, new TableIndex(index(name, columns)));
  }
}

/** Undoes `addIndices`. */
export async function dropIndices(runner: QueryRunner, indices: AddedIndices): Promise<void> {
  for (const [table, name] of indices) await runner.dropIndex(table, name);
}

export const foreign = (name: string, column: string, table: string, onDelete = 'CASCADE'): TableForeignKeyOptions => ({
  name,
  columnNames: [column],
  referencedTableName: table,
  referencedColumnNames: ['id'],
  onDelete,
  // explicit, otherwise MariaDB re-creates the key in every schema diff
  onUpdate: 'NO ACTION',
});

/** Creates tables in a migration, skipping existing ones, since DDL does not roll back on MariaDB. */
export const creator =
  (runner: QueryRunner) =>
  (
    name: string,
    cols: TableColumnOptions[],
    indices: TableIndexOptions[] = [],
    foreignKeys: TableForeignKeyOptions[] = [],
  ) =>
    runner.createTable(new Table({ name, columns: cols, indices, foreignKeys, ...tableEngine(runner) }), true);

/** Adds missing columns, nullable or with a default. TypeORM would copy the whole table on SQLite. */
export async function addColumns(runner: QueryRunner, table: string, cols: TableColumnOptions[]): Promise<void> {
  for (const { name, type, length, default: value } of cols) {
    if (await runner.hasColumn(table, name)) continue;
    const rest = value === undefined ? '' : ` NOT NULL DEFAULT ${value}`;
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} ${length ? `${type}(${length})` : type}${rest}`);
  }
}

/** Tables store any Unicode text and compare it exactly, whatever the server's default. */
const tableEngine = (runner: QueryRunner): { engine?: string } =>
  ['mysql', 'mariadb'].includes(runner.dataSource.options.type)
    ? { engine: 'InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin' }
    : {};
