import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { timeMs } from '../platform/common/clock.js';
import { CLASS, encodeRecord, type Message, TYPE } from './wire.js';
import { nameToWire, readName, slice } from './wire-rdata.js';

/** Transaction signatures, RFC 8945. */

/** An answer that cannot be trusted, or that rejects the key. */
export class TsigError extends Error {
  constructor(
    readonly kind: 'auth' | 'unavailable',
    message: string,
    /** false only if the request was certainly not carried out */
    readonly mayHaveApplied: boolean,
  ) {
    super(message);
  }
}

/** Name on the wire and Node's name of the hash (RFC 8945 section 6; MD5 for old servers only). */
const ALGORITHMS: Record<string, [string, string]> = {
  'hmac-sha256': ['hmac-sha256', 'sha256'],
  'hmac-sha512': ['hmac-sha512', 'sha512'],
  'hmac-sha384': ['hmac-sha384', 'sha384'],
  'hmac-sha224': ['hmac-sha224', 'sha224'],
  'hmac-sha1': ['hmac-sha1', 'sha1'],
  'hmac-md5': ['hmac-md5.sig-alg.reg.int', 'md5'],
};
export const TSIG_ALGORITHMS: readonly string[] = Object.keys(ALGORITHMS);

export interface TsigKey {
  name: string;
  /** One of `TSIG_ALGORITHMS`. */
  algorithm: string;
  secret: Buffer;
}

/** Allowed clock difference in seconds (RFC 8945 section 10). */
export const FUDGE_SECONDS = 300;
/** Maximum consecutive unsigned messages of a transfer (RFC 8945 section 5.3.1). */
const MAX_UNSIGNED = 99;

const ERRORS: Record<number, string> = {
  16: 'the signature is wrong (BADSIG): check tsig_secret and tsig_algorithm',
  17: 'the server does not know the key (BADKEY): check tsig_name and tsig_algorithm',
  18: 'the clock differs from the server (BADTIME)',
  22: 'the server refuses the length of the signature (BADTRUNC)',
};

export const u16 = (...values: number[]): Buffer => {
  const out = Buffer.alloc(values.length * 2);
  values.forEach((value, i) => {
    out.writeUInt16BE(value, i * 2);
  });
  return out;
};

export const time48 = (seconds: number): Buffer => {
  const out = Buffer.alloc(6);
  out.writeUIntBE(seconds, 0, 6);
  return out;
};

const keyName = (key: TsigKey): Buffer => nameToWire(key.name.toLowerCase());
export const algorithmName = (key: TsigKey): string => ALGORITHMS[key.algorithm]?.[0] ?? '';
export const hmac = (key: TsigKey, parts: Buffer[]): Buffer => {
  const hash = createHmac(ALGORITHMS[key.algorithm]?.[1] ?? '', key.secret);
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The TSIG variables in digest order (RFC 8945 section 4.3.3). */
export const variables = (key: TsigKey, time: Buffer, fudge: number, error: number, other: Buffer): Buffer =>
  Buffer.concat([
    keyName(key),
    u16(CLASS.ANY, 0, 0),
    nameToWire(algorithmName(key)),
    time,
    u16(fudge, error, other.length),
    other,
  ]);

export const prefixed = (mac: Buffer): Buffer[] => (mac.length ? [u16(mac.length), mac] : []);

/**
 * Appends a TSIG record to a request and returns its MAC, needed to verify answers.
 * @param now seconds since 1970
 */
export function sign(request: Buffer, key: TsigKey, now: number): { signed: Buffer; mac: Buffer } {
  const time = time48(now);
  const mac = hmac(key, [request, variables(key, time, FUDGE_SECONDS, 0, Buffer.alloc(0))]);
  const rdata = Buffer.concat([
    nameToWire(algorithmName(key)),
    time,
    u16(FUDGE_SECONDS, mac.length),
    mac,
    request.subarray(0, 2),
    u16(0, 0),
  ]);
  const record = encodeRecord({ name: key.name, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, rdata });
  const signed = Buffer.concat([request, record]);
  signed.writeUInt16BE(request.readUInt16BE(10) + 1, 10);
  return { signed, mac };
}

export interface Tsig {
  key: string;
  algorithm: string;
  time: Buffer;
  fudge: number;
  mac: Buffer;
  originalId: number;
  error: number;
  other: Buffer;
  /** Offset of the record in the message. */
  at: number;
}

/**
 * The TSIG record of a message, which must be its last one (RFC 8945 section 5.1).
 * @throws RangeError when it is malformed
 */
export function tsigOf({ sections }: Message): Tsig | null {
  const record = sections[2].at(-1);
  if (record?.type !== TYPE.TSIG) return null;
  const { message, rdataEnd } = record;
  const { name: algorithm, end } = readName(message, record.rdataStart);
  const macEnd = end + 10 + message.readUInt16BE(end + 8);
  return {
    key: record.name,
    algorithm,
    time: slice(message, end, end + 6),
    fudge: message.readUInt16BE(end + 6),
    mac: slice(message, end + 10, macEnd),
    originalId: message.readUInt16BE(macEnd),
    error: message.readUInt16BE(macEnd + 2),
    other: slice(message, macEnd + 6, rdataEnd),
    at: record.at,
  };
}

export const sameName = (a: string, b: string): boolean =>
  nameToWire(a.toLowerCase()).equals(nameToWire(b.toLowerCase()));

/** Verifies the answers to one request: a single one, or those of a zone transfer (RFC 8945 section 5.3). */
export class TsigVerifier {
  private unsigned: Buffer[] = [];
  private first = true;

  /** @param mac of the request */
  constructor(
    private readonly key: TsigKey,
    private mac: Buffer,
    private readonly now: () => number = () => Math.floor(timeMs() / 1000),
  ) {}

  /**
   * Verifies the next message. Unsigned ones are accepted only between signed ones of a transfer: call `complete` after
   * the last.
   * @throws TsigError `auth` when the server rejected the key or the signature is wrong, `unavailable` when a required
   *   signature is missing
   */
  accept(raw: Buffer, message: Message): void {
    const tsig = tsigOf(message);
    if (!tsig) {
      if (this.first && message.rcode !== 0) {
        throw new TsigError(
          'auth',
          'The server refused the request without looking at the key: it does not serve the zone, or does not know tsig_name',
          false,
        );
      }
      this.unsigned.push(raw);
      if (this.first || this.unsigned.length > MAX_UNSIGNED) throw unsignedAnswer();
      return;
    }
    // the server says why it rejected the request; such an answer is unsigned (RFC 8945 section 5.2), except BADTIME
    if (tsig.error !== 0) {
      throw new TsigError(
        'auth',
        `The server refused the key: ${ERRORS[tsig.error] ?? `TSIG error ${tsig.error}`}`,
        false,
      );
    }
    const stripped = Buffer.from(raw.subarray(0, tsig.at));
    stripped.writeUInt16BE(tsig.originalId, 0);
    stripped.writeUInt16BE(raw.readUInt16BE(10) - 1, 10);
    const expected = hmac(this.key, [
      ...prefixed(this.mac),
      ...this.unsigned,
      stripped,
      this.first
        ? variables(this.key, tsig.time, tsig.fudge, tsig.error, tsig.other)
        : Buffer.concat([tsig.time, u16(tsig.fudge)]),
    ]);
    if (
      !sameName(tsig.key, this.key.name) ||
      !sameName(tsig.algorithm, algorithmName(this.key)) ||
      tsig.mac.length !== expected.length ||
      !timingSafeEqual(tsig.mac, expected)
    ) {
      throw new TsigError('auth', 'The signature of the answer is wrong: no holder of the key sent it', true);
    }
    if (Math.abs(this.now() - tsig.time.readUIntBE(0, 6)) > tsig.fudge) {
      throw new TsigError('auth', 'The signature of the answer is too old: the clock differs from the server', true);
    }
    this.mac = Buffer.from(tsig.mac);
    this.unsigned = [];
    this.first = false;
  }

  /** Called after the last message. @throws TsigError when it was not signed */
  complete(): void {
    if (this.first || this.unsigned.length) throw unsignedAnswer();
  }
}

const unsignedAnswer = () =>
  new TsigError('unavailable', 'The answer is not signed: it may come from somebody else than the server', true);
