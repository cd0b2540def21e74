import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartRefused } from '../common/start-refused.js';
import type { DatabaseChoice } from './config.js';

const file = (dataDir: string) => join(dataDir, 'database.json');

/**
 * The database chosen in the setup flow, or null.
 * @throws StartRefused when the file cannot be understood (never treated as "not chosen")
 */
export function readChoice(dataDir: string): DatabaseChoice | null {
  const path = file(dataDir);
  ownerOnly(path);
  if (!existsSync(path)) return null;
  try {
    const choice = JSON.parse(readFileSync(path, 'utf8')) as DatabaseChoice;
    if (['sqlite', 'postgresql', 'mysql'].includes(choice?.type)) return choice;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StartRefused(
    `${path}, which says where the database is, cannot be understood; restore it from a backup, or set DATABASE_URL`,
  );
}

/**
 * Takes all rights on a file from everybody but its owner, where it exists. What cannot be changed, such as somebody
 * else's file, stays.
 */
export function ownerOnly(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // not there, not ours, or a file system without rights
  }
}

/** Keeps a name that was given in this directory over a power cut, where the file system can. */
export function syncDirectory(path: string): void {
  try {
    const handle = openSync(path, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // such as one of Windows, or of a network
  }
}

/** Writes `content` so that after a crash the old or the new file is there, whole; mode 0600. */
export function writeSecretFile(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    writeSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

/** Keeps the choice for the next start (it may hold a database password: mode 0600). */
export function writeChoice(dataDir: string, choice: DatabaseChoice): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeSecretFile(file(dataDir), `${JSON.stringify(choice, null, 2)}\n`);
}
