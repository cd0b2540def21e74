import { createHash } from 'node:crypto';
import { nameToWire } from '../../dns/wire-rdata.js';

/** Digest types of DS (RFC 4034, 4509, 6605) as node calls them. */
const DIGESTS: Record<number, string> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' };

/** The key tag of a DNSKEY's rdata in wire form (RFC 4034 appendix B). */
function keyTag(rdata: Buffer): number {
  let sum = 0;
  for (let i = 0; i < rdata.length; i++) sum += (rdata[i] as number) << (i & 1 ? 0 : 8);
  return (sum + (sum >>> 16)) & 0xffff;
}

/**
 * Whether a DS stands for one of the keys of a zone.
 * @param ds presentation form: `60485 5 1 2BB183AF…`
 * @param keys rdata of the DNSKEY records in wire form
 * @returns null when it cannot be judged: a digest type that is not known
 */
export function standsFor(ds: string, zone: string, keys: readonly Buffer[]): boolean | null {
  const [tag, algorithm, type, ...digest] = ds.split(' ');
  const hash = DIGESTS[Number(type)];
  if (!hash) return null;
  const owner = nameToWire(zone.toLowerCase());
  return keys.some(
    (key) =>
      keyTag(key) === Number(tag) &&
      key[3] === Number(algorithm) &&
      createHash(hash).update(owner).update(key).digest('hex') === digest.join('').toLowerCase(),
  );
}
