import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefused } from '../common/start-refused.js';
import { ownerOnly, writeSecretFile } from './choice-file.js';

/** Encryption at rest with a key that is never in the database. */
export interface SecretBox {
  /** `v1.<key id>.<base64url>`; `context` (for example `dns_accounts.credentials`) must be the same when decrypting */
  encrypt(plain: string, context: string): string;
  /** @throws Error when the key is unknown or the text was changed */
  decrypt(sealed: string, context: string): string;
  /** Whether the key of a sealed text, or of its first 12 characters, is here. */
  knows(sealed: string): boolean;
  /** Makes the key where there is none: only when it is known that nothing is sealed yet. */
  prepare(): void;
}

/** The id of a sealed text's key. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';

/** What a key is called in the values that it sealed; it says nothing about the key. */
const idOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 8);

function derive(keys: readonly string[]): { id: string; bytes: Buffer }[] {
  return keys.map((key) => {
    const bytes = Buffer.from(hkdfSync('sha256', key, 'zoneward', 'encryption at rest', 32));
    return { id: idOf(bytes), bytes };
  });
}

export const keyIds = (keys: readonly string[]): string[] => derive(keys).map(({ id }) => id);

/**
 * AES-256-GCM with the first key; every value carries its key's id, so older keys still decrypt and keys can be
 * rotated.
 * @param given may be a reading that finds none yet, and then `make` makes one
 */
export function secretBox(given: readonly string[] | (() => readonly string[]), make = given): SecretBox {
  const read = (from: typeof given) => derive(typeof from === 'function' ? from() : from);
  let derived = read(given);
  return {
    knows(sealed) {
      // another process of the same data directory may have made it since
      if (!derived.length) derived = read(given);
      return derived.some(({ id }) => id === keyIdOf(sealed));
    },
    prepare() {
      if (!derived.length) derived = read(make);
    },
    encrypt(plain, context) {
      const [current] = derived;
      if (!current) throw new Error('at least one key is needed');
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    decrypt(sealed, context) {
      const [version, id, data] = sealed.split('.');
      const key = derived.find((k) => k.id === id);
      if (version !== 'v1' || !key || !data) {
        throw new Error(`A secret was encrypted with the key ${id}, which is not in SECRET_KEY or the key file`);
      }
      const bytes = Buffer.from(data, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, 12))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
    },
  };
}

export const keyFile = (dataDir: string): string => join(dataDir, 'secret.key');

/**
 * The keys of `SECRET_KEY`, or those of `secret.key` in the data directory (one a line, newest first); none while there
 * is no such file.
 * @throws StartRefused when it is empty
 */
export function readKeys(configured: readonly string[], dataDir: string): readonly string[] {
  if (configured.length) return configured;
  const path = keyFile(dataDir);
  if (!existsSync(path)) return [];
  ownerOnly(path);
  const keys = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (!keys.length) throw new StartRefused(`The key file ${path} is empty; restore it from a backup`);
  return keys;
}

/** The same, but a missing file is made. */
export function loadKeys(configured: readonly string[], dataDir: string): readonly string[] {
  const known = readKeys(configured, dataDir);
  if (known.length) return known;
  const path = keyFile(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const fresh = `${path}.new`;
  writeSecretFile(fresh, `${randomBytes(32).toString('hex')}\n`);
  try {
    linkSync(fresh, path); // of two processes that start at once, one wins and both read its key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(fresh);
  }
  return readKeys(configured, dataDir);
}
