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
 * @throws StartRefused when the file is invalid (never treated as "not chosen")
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
 * Restricts an existing file to its owner. Files whose mode cannot be changed, such as those of other users, are left
 * as they are.
 */
export function ownerOnly(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // missing, owned by another user, or a file system without permissions
  }
}

/** Syncs a directory, so that a new file name survives a power cut, where the file system supports it. */
export function syncDirectory(path: string): void {
  try {
    const handle = openSync(path, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // not supported on Windows and some network file systems
  }
}

/** Writes a file atomically with mode 0600: after a crash the old or the new content is there. */
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

/** Stores the choice for the next start, with mode 0600 since it may contain a database password. */
export function writeChoice(dataDir: string, choice: DatabaseChoice): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeSecretFile(file(dataDir), `${JSON.stringify(choice, null, 2)}\n`);
}
