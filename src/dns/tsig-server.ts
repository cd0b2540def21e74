import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import {
  algorithmName,
  FUDGE_SECONDS,
  hmac,
  prefixed,
  sameName,
  type Tsig,
  type TsigKey,
  time48,
  u16,
  variables,
} from './tsig.js';
import { CLASS, encodeRecord, TYPE } from './wire.js';
import { nameToWire } from './wire-rdata.js';

/** Transaction signatures of a server (RFC 8945): of the requests that it gets, and of its answers. */

export const TSIG_ERROR = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18 } as const;

const NOTHING = Buffer.alloc(0);
/** The shortest signature in octets, where it is cut (RFC 8945 section 5.2.2.1). */
const LEAST_MAC = 10;

/**
 * Verifies a request, in the order of RFC 8945 section 5.2: key, signature, time. Signatures may be cut to half.
 * @param now seconds since 1970
 * @returns an error of `TSIG_ERROR`, and the whole signature, by which a request that comes again is known
 * @throws RangeError when the signature has a length that none has
 */
export function verifyRequest(raw: Buffer, tsig: Tsig, key: TsigKey, now: number): { error: number; mac: Buffer } {
  if (!sameName(tsig.algorithm, algorithmName(key))) return { error: TSIG_ERROR.BADKEY, mac: NOTHING };
  const stripped = Buffer.from(raw.subarray(0, tsig.at));
  stripped.writeUInt16BE(tsig.originalId, 0);
  stripped.writeUInt16BE(raw.readUInt16BE(10) - 1, 10);
  const mac = hmac(key, [stripped, variables(key, tsig.time, tsig.fudge, tsig.error, tsig.other)]);
  const { length } = tsig.mac;
  if (length > mac.length || length < Math.max(LEAST_MAC, mac.length / 2))
    throw new RangeError('the signature has a length that none has');
  if (!timingSafeEqual(mac.subarray(0, length), tsig.mac)) return { error: TSIG_ERROR.BADSIG, mac };
  const isTimely = Math.abs(now - tsig.time.readUIntBE(0, 6)) <= fudgeOf(tsig);
  return { error: isTimely ? TSIG_ERROR.NONE : TSIG_ERROR.BADTIME, mac };
}

/** The longest that a signature counts is ours to say. @returns seconds */
const fudgeOf = ({ fudge }: Tsig): number => Math.min(fudge, FUDGE_SECONDS);

/** Seconds since 1970 when a signature counts no more: its last second counts to its end. */
export const endOf = (tsig: Tsig): number => tsig.time.readUIntBE(0, 6) + fudgeOf(tsig) + 1;

/** Appends a record to a message. */
function append(message: Buffer, name: string, rdata: Buffer): Buffer {
  const record = encodeRecord({ name, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, rdata });
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return signed;
}

/** Appends the record that says why a request is not taken, which nobody can sign (RFC 8945 section 5.3.2). */
export function unsigned(answer: Buffer, tsig: Tsig, error: number): Buffer {
  const rdata = [nameToWire(tsig.algorithm), tsig.time, u16(tsig.fudge, 0, tsig.originalId, error, 0)];
  return append(answer, tsig.key, Buffer.concat(rdata));
}

/** Signs the answers to one request: a single one, or all of a zone transfer (RFC 8945 section 5.3). */
export class TsigSigner {
  private isFirst = true;
  private mac: Buffer;

  constructor(
    private readonly key: TsigKey,
    private readonly request: Tsig,
  ) {
    this.mac = request.mac;
  }

  /** Signs the next answer. @param now seconds since 1970 */
  sign(answer: Buffer, now: number): Buffer {
    return this.signed(answer, time48(now), FUDGE_SECONDS, TSIG_ERROR.NONE, NOTHING);
  }

  /** Signs the answer to a request whose time is too far from ours, with ours (RFC 8945 section 5.2.3). */
  signBadTime(answer: Buffer, now: number): Buffer {
    const { time, fudge } = this.request;
    return this.signed(answer, Buffer.from(time), fudge, TSIG_ERROR.BADTIME, time48(now));
  }

  private signed(answer: Buffer, time: Buffer, fudge: number, error: number, other: Buffer): Buffer {
    const { key, request } = this;
    const said = this.isFirst ? variables(key, time, fudge, error, other) : Buffer.concat([time, u16(fudge)]);
    this.mac = hmac(key, [...prefixed(this.mac), answer, said]);
    this.isFirst = false;
    const size = u16(fudge, this.mac.length);
    const rest = [this.mac, answer.subarray(0, 2), u16(error, other.length), other];
    return append(answer, request.key, Buffer.concat([nameToWire(algorithmName(key)), time, size, ...rest]));
  }
}
