import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import { sha256 } from '../platform/common/hash.js';
import type { AuditCheckpoint } from './audit.dto.js';
import type { AuditChain, AuditLog } from './audit.entity.js';
import type { StateColumn } from './states.js';

/** The columns in the order in which they are hashed. */
export const HASHED = [
  'seq',
  'created_at',
  'actor_type',
  'user_id',
  'username',
  'token_id',
  'token_name',
  'action',
  'domain',
  'domain_id',
  'target',
  'state_before',
  'state_after',
  'result',
  'error',
  'ip',
  'user_agent',
  'request_id',
] as const;

/** An entry as it is hashed; a state that somebody else wrote may be a text. */
export type Hashed = Omit<Pick<AuditLog, (typeof HASHED)[number] | 'change_set_id' | 'door'>, StateColumn> &
  Record<StateColumn, object | string | null>;

/**
 * Hash of an entry: SHA-256 over the hash before it and the entry's own columns as a JSON array; `change_set_id` and
 * `door` only where they are set, since older entries have none.
 */
export const entryHash = (previous: string, row: Hashed): string => {
  const more = [row.change_set_id, row.door ?? null];
  while (more.at(-1) === null) more.pop();
  return sha256(previous + JSON.stringify([...HASHED.map((column) => row[column] ?? null), ...more]));
};

/** What a signature covers. */
export type Ends = Pick<AuditChain, 'seq' | 'hash' | 'start_seq' | 'start_hash' | 'unsealed_seq'>;

const signed = ({ seq, hash, start_seq, start_hash, unsealed_seq }: Ends): Buffer =>
  Buffer.from(
    `zoneward audit checkpoint\n${JSON.stringify([seq, hash, start_seq ?? 1, start_hash ?? '', unsealed_seq ?? 0])}`,
  );

/** What PKCS #8 and SPKI put before the 32 bytes of an Ed25519 key. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Seals entries and signs the ends of the chain, with a secret of the installation. */
export class ChainKeys {
  readonly publicKey: string;
  private readonly sealing: Buffer;
  private readonly signing: KeyObject;

  constructor(secret: string) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'zoneward audit', purpose, 32));
    this.sealing = derive('seal');
    this.signing = createPrivateKey({ key: Buffer.concat([PKCS8, derive('sign')]), format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.signing)
      .export({ format: 'der', type: 'spki' })
      .subarray(SPKI.length)
      .toString('base64url');
  }

  seal(hash: string): string {
    return createHmac('sha256', this.sealing).update(hash).digest('hex');
  }

  sign(ends: Ends): string {
    return sign(null, signed(ends), this.signing).toString('base64url');
  }

  /** @param signature null: never signed */
  signs(ends: Ends, signature: string | null): boolean {
    return signature !== null && isSigned({ ...ends, signature, public_key: this.publicKey });
  }
}

/** Whether a checkpoint was signed with the key that it names. */
export function isSigned({
  signature,
  public_key,
  ...ends
}: Ends & { signature: string; public_key: string }): boolean {
  try {
    const der = Buffer.concat([SPKI, Buffer.from(public_key, 'base64url')]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, signed(ends), key, Buffer.from(signature, 'base64url'));
  } catch {
    // no valid key
    return false;
  }
}

/** What is wrong with a chain, and the number of the first entry that is. */
export interface Break {
  seq: number | null;
  reason: string;
}

/** An entry with its links. */
export type Linked = Hashed & Pick<AuditLog, 'id' | 'prev_hash' | 'hash'> & { seal?: string | null };

/**
 * Walks along a chain entry by entry, in the order of their numbers, and says what is wrong with the first bad one.
 * @param sealOf of an entry's hash, where the key is known
 */
export class ChainWalk {
  /** ids of the last two entries: the database gives them out in the order of the chain */
  private ids: [number, number] = [0, 0];

  constructor(
    public seq: number,
    public hash: string,
    private readonly checkpoints: readonly Pick<AuditCheckpoint, 'seq' | 'hash'>[],
    private readonly unsealed: number,
    private readonly sealOf?: (hash: string) => string,
  ) {}

  /** @returns null when this is the next entry, as it was written */
  next(row: Linked): Break | null {
    const due = this.seq + 1;
    if (row.seq > due) return { seq: due, reason: `entry ${due} is missing` };
    if (row.seq < due) return { seq: row.seq, reason: `entry ${row.seq} was put in, or is not in its place` };
    const bad = (reason: string) => ({ seq: due, reason: `entry ${due} ${reason}` });
    if (row.prev_hash !== this.hash) return bad('does not follow from the one before it');
    if (row.hash !== entryHash(this.hash, row)) return bad('was changed');
    if (this.sealOf && due > this.unsealed && row.seal !== this.sealOf(row.hash))
      return bad('was written anew, with all hashes after it, by somebody without the key');
    const told = this.checkpoints.find((checkpoint) => checkpoint.seq === due);
    if (told && told.hash !== row.hash) return bad('or one before it was written anew: a checkpoint says otherwise');
    const [last, latest] = this.ids;
    if (row.id <= latest) {
      // the entry before got too high an id, or this one too low an id
      const seq = row.id > last ? due - 1 : due;
      return { seq, reason: `entry ${seq} has the id of another one` };
    }
    this.ids = [latest, row.id];
    this.seq = due;
    this.hash = row.hash;
    return null;
  }

  /** @returns what is missing behind the last entry, by the checkpoints */
  end(): Break | null {
    const last = Math.max(...this.checkpoints.map(({ seq }) => seq));
    if (last <= this.seq) return null;
    const due = this.seq + 1;
    return { seq: due, reason: `the tail is missing: entries ${due} to ${last}` };
  }
}
