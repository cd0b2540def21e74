import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StartRefused } from '../common/start-refused.js';
import { ownerOnly, syncDirectory, writeSecretFile } from './choice-file.js';

/** Encryption at rest with a key that is never stored in the database. */
export interface SecretBox {
  /** Returns `v1.<key id>.<base64url>`; decrypting needs the same `context`, for example `dns_accounts.credentials`. */
  encrypt(plain: string, context: string): string;
  /** @throws Error when the key is unknown or the text was modified */
  decrypt(sealed: string, context: string): string;
  /** Whether the key of a sealed text, or of its first 12 characters, is available. */
  knows(sealed: string): boolean;
  /** Creates a key if there is none; only to be called when nothing has been encrypted yet. */
  prepare(): void;
  /** The first 12 characters of everything that is sealed with the current key. */
  head(): string;
  /** Ids of the keys, the encrypting one first. */
  ids(): string[];
}

/** Whether a text is sealed, with any key. */
export const isSealed = (text: string): boolean => /^v1\.\w+\./.test(text);

/** The id of a sealed text's key. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';

/** Id of a key in sealed values; it reveals nothing about the key. */
const idOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 8);

function derive(keys: readonly string[]): { id: string; bytes: Buffer }[] {
  return keys.map((key) => {
    const bytes = Buffer.from(hkdfSync('sha256', key, 'zoneward', 'encryption at rest', 32));
    return { id: idOf(bytes), bytes };
  });
}

export const keyIds = (keys: readonly string[]): string[] => derive(keys).map(({ id }) => id);

/**
 * AES-256-GCM with the first key; every value contains its key id, so that older keys still decrypt and keys can be
 * rotated.
 * @param given reads the keys; when it finds none, `make` creates one
 * @param stamp changes when the keys have to be read again
 */
export function secretBox(
  given: readonly string[] | (() => readonly string[]),
  make = given,
  stamp: () => string = () => '',
): SecretBox {
  const read = (from: typeof given) => derive(typeof from === 'function' ? from() : from);
  let seen = stamp();
  let derived = read(given);
  /** The current keys: another process of the same data directory may have added one. */
  const keys = () => {
    const newest = stamp();
    if (derived.length && newest === seen) return derived;
    const fresh = read(given);
    // a running process keeps its keys when the file is deleted
    if (fresh.length) {
      derived = fresh;
      seen = newest;
    }
    return derived;
  };
  const current = () => {
    const [first] = keys();
    if (!first) throw new Error('at least one key is needed');
    return first;
  };
  return {
    knows: (sealed) => keys().some(({ id }) => id === keyIdOf(sealed)),
    prepare() {
      if (!keys().length) derived = read(make);
    },
    head: () => `v1.${current().id}.`,
    ids: () => keys().map(({ id }) => id),
    encrypt(plain, context) {
      const { id: key, bytes } = current();
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${key}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    decrypt(sealed, context) {
      const [version, id, data] = sealed.split('.');
      const key = derived.find((k) => k.id === id) ?? keys().find((k) => k.id === id);
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
 * The keys of `SECRET_KEY`, or of `secret.key` in the data directory (one per line, newest first); empty if there is no
 * such file.
 * @throws StartRefused when the file is empty
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

/** A value that changes whenever the key file does. */
export function keyStamp(configured: readonly string[], dataDir: string): string {
  const stat = configured.length ? undefined : statSync(keyFile(dataDir), { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
}

/**
 * Prepends a new key to the key file; processes use it from their next encryption on. The caller must prevent
 * concurrent calls.
 */
export function addKey(dataDir: string): void {
  const keys = [randomBytes(32).toString('hex'), ...readKeys([], dataDir)];
  writeSecretFile(keyFile(dataDir), `${keys.join('\n')}\n`);
}

/** Like `readKeys`, but creates a missing file. */
export function loadKeys(configured: readonly string[], dataDir: string): readonly string[] {
  const known = readKeys(configured, dataDir);
  if (known.length) return known;
  const path = keyFile(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const fresh = `${path}.new`;
  writeSecretFile(fresh, `${randomBytes(32).toString('hex')}\n`);
  try {
    linkSync(fresh, path); // if two processes start at once, one wins and both read its key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(fresh);
  }
  syncDirectory(dataDir);
  return readKeys(configured, dataDir);
}
