import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Ceremony, Options } from './chromium.js';

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>;

/** CBOR (RFC 8949) as sent by authenticators. */
export function cbor(value: Cbor): Buffer {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
}

/** User present, user verified, attested credential data. */
export const FLAGS = { up: 1, uv: 4, at: 64 };

/** Deviations from a valid authenticator and browser. */
export interface Forgery {
  /** Field of the client data. */
  type?: string;
  challenge?: string;
  origin?: string;
  crossOrigin?: boolean;
  rpId?: string;
  flags?: number;
  counter?: number;
  /** Credential id in the response. */
  id?: string;
  userHandle?: string;
  /** Signs with another key. */
  key?: KeyObject;
  /** Modifies the authenticator data after signing. */
  tamper?: (authenticatorData: Buffer) => void;
  /** Of a registration: format and statement of the attestation. */
  attestation?: [string, Map<string, Cbor>];
  credentialId?: Buffer;
  publicKey?: Map<number, Cbor>;
}

const digest = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

/** A software authenticator and browser (ES256), for invalid responses that real ones cannot produce. */
export class SoftAuthenticator {
  readonly credentialId = randomBytes(32);
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  counter = 1;
  userHandle = '';

  constructor(private readonly origin: string) {}

  get id(): string {
    return this.credentialId.toString('base64url');
  }

  /** The COSE public key. */
  get publicKey(): Map<number, Cbor> {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' }) as { x: string; y: string };
    return new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
  }

  create(options: Options, forgery: Forgery = {}): Ceremony {
    const { rp, user } = options as { rp: { id: string }; user: { id: string } };
    this.userHandle = user.id;
    const id = forgery.credentialId ?? this.credentialId;
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, cbor(forgery.publicKey ?? this.publicKey)]);
    const flags = forgery.flags ?? FLAGS.up | FLAGS.uv | FLAGS.at;
    const authData = Buffer.concat([this.data(forgery.rpId ?? rp.id, flags, forgery), attested]);
    forgery.tamper?.(authData);
    const [fmt, attStmt] = forgery.attestation ?? ['none', new Map()];
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authData],
      ]),
    ).toString('base64url');
    const clientDataJSON = this.clientData('webauthn.create', options, forgery);
    return this.framed(id.toString('base64url'), { clientDataJSON, attestationObject }, forgery);
  }

  get(options: Options, forgery: Forgery = {}): Ceremony {
    const { rpId } = options as { rpId: string };
    if (forgery.counter === undefined) this.counter++;
    const authenticatorData = this.data(forgery.rpId ?? rpId, forgery.flags ?? FLAGS.up | FLAGS.uv, forgery);
    const clientDataJSON = this.clientData('webauthn.get', options, forgery);
    const signed = Buffer.concat([authenticatorData, digest(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = sign('sha256', signed, forgery.key ?? this.keys.privateKey).toString('base64url');
    forgery.tamper?.(authenticatorData);
    const response = {
      clientDataJSON,
      authenticatorData: authenticatorData.toString('base64url'),
      signature,
      userHandle: forgery.userHandle ?? this.userHandle,
    };
    return this.framed(this.id, response, forgery);
  }

  private framed(id: string, response: Ceremony['response'], forgery: Forgery): Ceremony {
    const claimed = forgery.id ?? id;
    return { id: claimed, rawId: claimed, type: 'public-key', clientExtensionResults: {}, response };
  }

  private data(rpId: string, flags: number, { counter }: Forgery): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.counter);
    return Buffer.concat([digest(rpId), Buffer.from([flags]), count]);
  }

  private clientData(type: string, { challenge }: Options, forgery: Forgery): string {
    const { crossOrigin = false } = forgery;
    const data = {
      type: forgery.type ?? type,
      challenge: forgery.challenge ?? challenge,
      origin: forgery.origin ?? this.origin,
      crossOrigin,
    };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }
}

/** Invalid bodies derived from a valid one. */
export const oddBodies = (good: Ceremony): [string, unknown][] => {
  const { response } = good;
  const deep = JSON.parse(`${'{"a":'.repeat(25)}1${'}'.repeat(25)}`);
  const values: unknown[] = [
    null,
    7,
    true,
    [],
    {},
    [response],
    '',
    'not base64url!',
    'AAAA',
    '\u00e9'.repeat(40),
    deep,
  ];
  const changed = [...Object.keys(response), 'all'].flatMap((field) =>
    values.map((value): [string, unknown] => [
      `${field}: ${JSON.stringify(value).slice(0, 40)}`,
      { ...good, response: field === 'all' ? value : { ...response, [field]: value } },
    ]),
  );
  return [
    ...changed,
    ...values.map((id): [string, unknown] => [`id: ${JSON.stringify(id).slice(0, 40)}`, { ...good, id, rawId: id }]),
    ['no id', { ...good, id: undefined }],
    ['another rawId', { ...good, rawId: randomBytes(32).toString('base64url') }],
    ['another type', { ...good, type: 'password' }],
    ['padded id', { ...good, id: `${good.id}=`, rawId: `${good.id}=` }],
    ['nothing', {}],
    ['short id', { ...good, id: 'AAAA', rawId: 'AAAA' }],
    ['long id', { ...good, id: 'A'.repeat(1368), rawId: 'A'.repeat(1368) }],
    ['half a megabyte', { ...good, response: { ...response, clientDataJSON: 'A'.repeat(500_000) } }],
    ['client data null', { ...good, response: { ...response, clientDataJSON: 'bnVsbA' } }],
    ['client data a number', { ...good, response: { ...response, clientDataJSON: 'MQ' } }],
    ['deep CBOR', { ...good, response: { ...response, attestationObject: 'gYGB'.repeat(10_000) } }],
    ['prototype', JSON.parse(`{"__proto__":{"id":"x"},"constructor":1,"id":"${good.id}","toString":null}`)],
  ];
};
