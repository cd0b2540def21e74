import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { errors } from '../../platform/common/errors.js';
import { SettingsService } from '../../settings/settings.service.js';
import { isCredentialId } from './credential-json.js';

/** The library takes 25 MB of memory: loaded with the first ceremony. */
export const webauthn = () => import('@simplewebauthn/server');

/**
 * COSE numbers of EdDSA, ES256 and RS256. Explicit, since the default of the library depends on the version of Node, in
 * which replicas may differ.
 */
export const ALGORITHMS = [-8, -7, -257];

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
const base64url = (data: Uint8Array) => Buffer.from(data).toString('base64url');

/** An RSA key of 8192 bits has some 1040; larger ones would only make verification slow. */
const MAX_KEY_BYTES = 2048;

/** A credential whose registration was verified. */
export interface NewCredential {
  /** base64url */
  id: string;
  /** COSE key, base64url */
  publicKey: string;
  counter: number;
  transports: string[];
  backedUp: boolean;
}

/**
 * The WebAuthn relying party. Its host name and origin come from the settings only: those of a request may be forged.
 */
@Injectable()
export class RelyingParty {
  constructor(private readonly settings: SettingsService) {}

  /**
   * Host name and origin of the public address.
   * @throws AppError 409001 when that is an IP address: browsers know no passkeys there
   */
  async identity(): Promise<{ id: string; origin: string }> {
    const { hostname, origin } = new URL(await this.settings.publicUrl());
    if (isIP(hostname.replace(/^\[|\]$/g, ''))) throw errors.conflict('passkeys_need_host');
    return { id: hostname, origin };
  }

  /** Verifies a registration ceremony. @throws Error naming what is wrong, for the log */
  async verifyCreation(response: RegistrationResponseJSON, challenge: string): Promise<NewCredential> {
    const { id, origin } = await this.identity();
    const { clientDataJSON, attestationObject, transports = [] } = response.response;
    assertTopFrame(clientDataJSON);
    const { verifyRegistrationResponse } = await webauthn();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...response,
        response: { ...response.response, attestationObject: await withoutStatement(attestationObject) },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) throw new Error('not verified');
    const { credential, credentialBackedUp } = registrationInfo;
    if (credential.id !== response.id) throw new Error('the id is not the one of the authenticator data');
    if (!isCredentialId(bytes(credential.id))) throw new Error('length of the credential id');
    if (credential.publicKey.length > MAX_KEY_BYTES) throw new Error('length of the public key');
    return {
      id: credential.id,
      publicKey: base64url(credential.publicKey),
      counter: credential.counter,
      transports,
      backedUp: credentialBackedUp,
    };
  }

  /**
   * Verifies an authentication ceremony, except for the counter.
   * @throws Error naming what is wrong, for the log
   */
  async verifyUse(
    response: AuthenticationResponseJSON,
    challenge: string,
    publicKey: string,
  ): Promise<{ counter: number; backedUp: boolean }> {
    const { id, origin } = await this.identity();
    assertTopFrame(response.response.clientDataJSON);
    const { verifyAuthenticationResponse } = await webauthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      // 0: the library compares counters before it verifies the signature, so that anybody could make a counter seem to
      // have gone backwards
      credential: { id: response.id, publicKey: bytes(publicKey), counter: 0 },
    });
    if (!verified) throw new Error('wrong signature');
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  }
}

/** Refuses ceremonies in frames of other origins (clickjacking). */
function assertTopFrame(clientDataJSON: string): void {
  if (JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin)
    throw new Error('the ceremony ran inside a page of another origin');
}

/**
 * Replaces the attestation by `none`, as if the authenticator had followed our request. No attestation is trusted here,
 * and certificates that clients send are better not parsed.
 */
async function withoutStatement(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const authData = decodeAttestationObject(bytes(attestationObject)).get('authData');
  const bare = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', authData],
  ]);
  return base64url(isoCBOR.encode(bare));
}
