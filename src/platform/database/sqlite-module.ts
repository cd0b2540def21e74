import { createRequire } from 'node:module';

/** What is used of `node:sqlite`. */
export interface Sqlite {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => Database;
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
interface Statement {
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  setReadBigInts(on: boolean): void;
  /** these two from Node 22.16 on */
  columns?(): { name: string }[];
  setReturnArrays?(on: boolean): void;
}

/** Node's own SQLite, from 22.13 on. */
export function nodeSqlite(): Sqlite | undefined {
  const { emitWarning } = process;
  // loading it warns at each start of Node 22 that it is experimental; nothing else can warn meanwhile
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The same for Node 20, with its binaries inside the package. @throws Error when it is not installed */
export function backport(): Sqlite {
  try {
    return createRequire(import.meta.url)('@photostructure/sqlite');
  } catch (cause) {
    throw new Error('SQLite needs Node 22.13 or later, or the optional package @photostructure/sqlite', { cause });
  }
}

/** SQLite's module on this Node. */
export const sqlite = (): Sqlite => nodeSqlite() ?? backport();
