import { createHmac } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A one-time code of six digits (RFC 6238, SHA-1, half a minute) of a secret in base 32, as apps are given it. */
export function totpOf(secret: string, now = timeMs()): string {
  const bits = [...secret.toUpperCase().replace(/[\s=-]/g, '')]
    .map((c) => ALPHABET.indexOf(c).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const hash = createHmac('sha1', key).update(counter).digest();
  const code = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, '0');
}
