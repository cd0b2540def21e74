import { createPrivateKey, type KeyObject } from 'node:crypto';
import { ProviderError } from './errors.js';

/**
 * The private key, and the other texts, of the JSON file in which a cloud hands out the key of an account.
 * @param label what the person who filled it in calls it
 * @param names texts that it must have
 * @throws ProviderError for a text that is none; nothing of it is repeated
 */
export function keyFile<K extends string>(
  json: string,
  label: string,
  names: readonly K[],
): { key: KeyObject; texts: Record<K, string> & Partial<Record<string, string>> } {
  try {
    const texts = JSON.parse(json) as Record<string, string>;
    const key = createPrivateKey(texts.private_key ?? '');
    if (names.every((name) => texts[name])) return { key, texts };
  } catch {
    // said below
  }
  throw new ProviderError('auth', `The ${label} is not the JSON of a key: copy the whole file`, false);
}
