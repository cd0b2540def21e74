import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { Cidr } from '../common/cidr.js';
import type { DatabaseChoice } from '../config/config.js';
import { toOptions } from '../database/app-data-source.js';
import { resolveAllAllowed } from '../outbound/guard.js';
import type { DatabaseInput, TestResult } from './init.dto.js';

/** The embedded default. */
const SQLITE_FILE = 'zoneward.db';

/** What a setup body chooses. */
export function choiceOf(input: DatabaseInput, dataDir: string): DatabaseChoice {
  if (input.type === 'sqlite') return { type: 'sqlite', path: join(dataDir, input.sqlite?.path ?? SQLITE_FILE) };
  const server = input[input.type];
  if (!server) throw new Error('validation lets no body without its server through');
  const { host, port, database, user, password, ssl } = server;
  return { type: input.type, host, port, database, user, password, ssl: ssl ?? false };
}

// Class of a connection failure; driver texts may hold hosts, users and file names.
const WORDS: [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN|cannot be resolved/, 'The host name is not known'],
  [/outbound rules/, 'Connections to this address are not allowed (outbound rules)'],
  [/ECONNREFUSED/, 'Nothing listens at this host and port'],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i, 'The server cannot be reached'],
  [
    /28P01|28000|ER_ACCESS_DENIED|ER_DBACCESS_DENIED|password/i,
    'User name or password is wrong, or the user may not use this database',
  ],
  [/3D000|ER_BAD_DB_ERROR/, 'The database does not exist'],
  [/SSL|TLS|certificate/i, 'The TLS connection failed'],
  [/42501|ER_TABLEACCESS_DENIED|permission denied/i, 'The user lacks rights in this database'],
  [/SQLITE_CANTOPEN|unable to open|EACCES|EROFS/i, 'The file cannot be opened in the data directory'],
  [/SQLITE_NOTADB|not a database/i, 'The file is not an SQLite database'],
];

/** A connection failure in plain words, without the driver's text. */
export function failureWords(error: unknown): string {
  const e = error as { code?: string; message?: string; driverError?: { code?: string } };
  const text = `${e.code ?? ''} ${e.driverError?.code ?? ''} ${e.message ?? ''}`;
  return WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'The connection failed';
}

/**
 * Where a choice may be connected to; of a file nowhere.
 * @throws OutboundError when nowhere that the outbound rules allow
 */
export const allowedAddresses = async (choice: DatabaseChoice, deny: readonly Cidr[]): Promise<string[]> =>
  choice.type === 'sqlite' ? [] : resolveAllAllowed(choice.host, deny);

/** Tries a choice with a connection of its own, which is closed afterwards; nothing is created. */
export async function probe(choice: DatabaseChoice, deny: readonly Cidr[]): Promise<TestResult> {
  if (choice.type === 'sqlite') {
    if (!existsSync(choice.path)) return { success: true, message: 'The file will be created', hasExistingData: false };
    return connect(choice);
  }
  try {
    const allowed = await allowedAddresses(choice, deny);
    let result: TestResult | undefined;
    // to the addresses that were checked, not to the name again; with TLS the certificate must be the name's
    for (const host of choice.ssl ? [choice.host] : allowed) {
      result = await connect({ ...choice, host });
      if (result.success) break;
    }
    return result as TestResult;
  } catch (error) {
    return { success: false, message: failureWords(error), hasExistingData: false };
  }
}

async function connect(choice: DatabaseChoice): Promise<TestResult> {
  const source = new DataSource(toOptions(choice, [], choice.type === 'postgresql' ? 'postgres' : 'mysql'));
  try {
    await source.initialize();
    const runner = source.createQueryRunner();
    const hasExistingData = await runner.hasTable('users').finally(() => runner.release());
    return { success: true, message: 'The connection works', hasExistingData };
  } catch (error) {
    return { success: false, message: failureWords(error), hasExistingData: false };
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}
