import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ownerOnly, writeSecretFile } from './choice-file.js';

/** Encryption at rest with a key that is never in the database. */
export interface SecretBox {
  /** `v1.<key id>.<base64url>`; `context` (for example `dns_accounts.credentials`) must be the same when decrypting */
  encrypt(plain: string, context: string): string;
  /** @throws Error when the key is unknown or the text was changed */
  decrypt(sealed: string, context: string): string;
}

/**
 * AES-256-GCM with the first key; every value carries its key's id, so older keys still decrypt and keys can be
 * rotated.
 */
export function secretBox(keys: readonly string[]): SecretBox {
  const derived = keys.map((key) => {
    const bytes = Buffer.from(hkdfSync('sha256', key, 'zoneward', 'encryption at rest', 32));
    return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
  });
  const [current] = derived;
  if (!current) throw new Error('at least one key is needed');
  return {
    encrypt(plain, context) {
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

/**
 * The keys of `SECRET_KEY`, or those of `secret.key` in the data directory (one a line, newest first), which is made
 * when absent.
 */
export function loadKeys(configured: readonly string[], dataDir: string): readonly string[] {
  if (configured.length) return configured;
  const path = join(dataDir, 'secret.key');
  if (!existsSync(path)) {
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
  }
  ownerOnly(path);
  const keys = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  if (!keys.length) throw new Error(`The key file ${path} is empty; restore it from a backup`);
  return keys;
}
