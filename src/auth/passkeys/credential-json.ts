import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** The longest credential id that WebAuthn allows. */
const MAX_ID_BYTES = 1023;
/** The shortest that WebAuthn allows; shorter ones could be guessed. */
const MIN_ID_BYTES = 16;
/** Characters of one part; an attestation with a chain of certificates has some 10 000. */
const MAX_PART = 65_536;
const MAX_TRANSPORTS = 8;

/** Whether a credential id has a length that WebAuthn allows. */
export const isCredentialId = ({ length }: Uint8Array): boolean => length >= MIN_ID_BYTES && length <= MAX_ID_BYTES;

/** The transports that the library knows; a browser may know more. */
type Transports = NonNullable<RegistrationResponseJSON['response']['transports']>;

/** The known fields of a new credential, with their types checked. @returns null when it is malformed */
export function registrationJson(body: Record<string, unknown>): RegistrationResponseJSON | null {
  const response = object(body.response);
  const id = idOf(body);
  const clientDataJSON = base64url(response.clientDataJSON);
  const attestationObject = base64url(response.attestationObject);
  if (!id || !clientDataJSON || !attestationObject) return null;
  return {
    ...frame(id),
    response: { clientDataJSON, attestationObject, transports: transports(response.transports) as Transports },
  };
}

/**
 * The known fields of an assertion, with their types checked.
 * @returns null when it is malformed
 */
export function assertionJson(body: Record<string, unknown>): AuthenticationResponseJSON | null {
  const response = object(body.response);
  const id = idOf(body);
  const clientDataJSON = base64url(response.clientDataJSON);
  const authenticatorData = base64url(response.authenticatorData);
  const signature = base64url(response.signature);
  // present in assertions of discoverable credentials, the only kind that is requested
  const userHandle = base64url(response.userHandle);
  if (!id || !clientDataJSON || !authenticatorData || !signature || !userHandle) return null;
  return { ...frame(id), response: { clientDataJSON, authenticatorData, signature, userHandle } };
}

const frame = (id: string) => ({ id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} });

function idOf({ id, rawId, type }: Record<string, unknown>): string | null {
  const text = base64url(id);
  if (!text || rawId !== id || type !== 'public-key') return null;
  const bytes = Buffer.from(text, 'base64url');
  // the canonical encoding only: credentials are found by its hash
  return isCredentialId(bytes) && bytes.toString('base64url') === text ? text : null;
}

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const base64url = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_PART && /^[\w-]+$/.test(value) ? value : null;

/** Hints that are kept for the browser; malformed ones are left out. */
const transports = (value: unknown): string[] =>
  Array.isArray(value)
    ? [...new Set(value.filter((item) => typeof item === 'string' && /^[a-z][a-z-]{0,31}$/.test(item)))].slice(
        0,
        MAX_TRANSPORTS,
      )
    : [];
