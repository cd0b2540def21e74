import type { EntityMetadata } from 'typeorm';
import { isFleeting } from '../schema/restored.js';
import type { CellKind, DumpTable } from './format.js';

/** A table that goes into a dump. */
export interface KeptTable extends DumpTable {
  /** columns of the primary key, by which it is read piece by piece */
  key: string[];
  /** its ids are given by the database */
  numbered: boolean;
}

const TEXTS = ['varchar', 'text', 'simple-json', 'simple-array'];

function kindOf(type: unknown, where: string): CellKind {
  if (type === Number || type === 'integer' || type === 'int' || type === 'bigint') return 'int';
  if (type === Boolean || type === 'boolean') return 'bool';
  if (type === String || TEXTS.includes(String(type))) return 'text';
  if (['blob', 'bytea', 'longblob', 'varbinary'].includes(String(type))) return 'bytes';
  throw new Error(`a dump cannot hold ${where}, which is of the type ${String(type)}`);
}

/** The tables of the schema that are kept, in an order in which they can be filled. */
export function keptTables(metadatas: readonly EntityMetadata[]): KeptTable[] {
  const left = metadatas.filter(({ target }) => !isFleeting(target as object));
  const names = new Set(left.map(({ tableName }) => tableName));
  const tables: KeptTable[] = [];
  while (left.length) {
    const next = left.findIndex(({ tableName, foreignKeys }) =>
      foreignKeys.every(({ referencedEntityMetadata: { tableName: other } }) => {
        if (!names.has(other)) throw new Error(`${tableName} points at ${other}, which is left out of dumps`);
        return other === tableName || tables.some(({ name }) => name === other);
      }),
    );
    if (next < 0) throw new Error('tables point at each other in a circle');
    const [metadata] = left.splice(next, 1) as [EntityMetadata];
    const { tableName: name, columns, primaryColumns, generatedColumns } = metadata;
    tables.push({
      name,
      columns: columns.map(({ databaseName, type }) => ({
        name: databaseName,
        kind: kindOf(type, `${name}.${databaseName}`),
      })),
      key: primaryColumns.map(({ databaseName }) => databaseName),
      numbered: generatedColumns.some(({ generationStrategy }) => generationStrategy === 'increment'),
    });
  }
  return tables;
}
