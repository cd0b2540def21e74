import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { Cidr } from '../platform/common/cidr.js';
import type { DatabaseChoice } from '../platform/config/config.js';
import { toOptions } from '../platform/database/app-data-source.js';
import { failureWords } from '../platform/database/failure-words.js';
import { resolveAllAllowed } from '../platform/outbound/guard.js';
import type { DatabaseInput, TestResult } from './init.dto.js';

/** The embedded default. */
const SQLITE_FILE = 'zoneward.db';

/** The database that a setup body chooses. */
export function choiceOf(input: DatabaseInput, dataDir: string): DatabaseChoice {
  if (input.type === 'sqlite') return { type: 'sqlite', path: join(dataDir, input.sqlite?.path ?? SQLITE_FILE) };
  const server = input[input.type];
  if (!server) throw new Error('validation lets no body without its server through');
  const { host, port, database, user, password, ssl } = server;
  return { type: input.type, host, port, database, user, password, ssl: ssl ?? false };
}

/**
 * The addresses that a choice may be connected to; none for a file.
 * @throws OutboundError when the outbound rules allow none
 */
export const allowedAddresses = async (choice: DatabaseChoice, deny: readonly Cidr[]): Promise<string[]> =>
  choice.type === 'sqlite' ? [] : resolveAllAllowed(choice.host, deny);

/** Tests a choice with a connection of its own, which is closed afterwards; nothing is created. */
export async function probe(choice: DatabaseChoice, deny: readonly Cidr[]): Promise<TestResult> {
  if (choice.type === 'sqlite') {
    if (!existsSync(choice.path)) return { success: true, message: 'The file will be created', hasExistingData: false };
    return connect(choice);
  }
  try {
    const allowed = await allowedAddresses(choice, deny);
    let result: TestResult | undefined;
    // connects to the checked addresses, not to the name; with TLS the certificate must match the name
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
