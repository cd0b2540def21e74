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
import { join } from 'node:path';
import type { DatabaseChoice } from './config.js';

const file = (dataDir: string) => join(dataDir, 'database.json');

/**
 * The database chosen in the setup flow, or null.
 * @throws Error when the file is not readable JSON (never treated as "not chosen")
 */
export function readChoice(dataDir: string): DatabaseChoice | null {
  ownerOnly(file(dataDir));
  return existsSync(file(dataDir)) ? (JSON.parse(readFileSync(file(dataDir), 'utf8')) as DatabaseChoice) : null;
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
}

/** Keeps the choice for the next start (it may hold a database password: mode 0600). */
export function writeChoice(dataDir: string, choice: DatabaseChoice): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeSecretFile(file(dataDir), `${JSON.stringify(choice, null, 2)}\n`);
}
