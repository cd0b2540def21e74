import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { errors } from '../../common/errors.js';
import { SettingsService } from '../../settings/settings.service.js';
import { isCredentialId } from './credential-json.js';

/** The library brings parsers of certificates, 25 MB in memory: loaded with the first ceremony. */
export const webauthn = () => import('@simplewebauthn/server');

/**
 * COSE numbers of EdDSA, ES256 and RS256. Said aloud: the library's own list differs between versions of Node, and
 * replicas may differ in those.
 */
export const ALGORITHMS = [-8, -7, -257];

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
const base64url = (data: Uint8Array) => Buffer.from(data).toString('base64url');

/** An RSA key of 8192 bits has some 1040; larger ones would only make each check slow. */
const MAX_KEY_BYTES = 2048;

/** A credential whose ceremony was right. */
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
 * Who we are to browsers, and what we accept from them. Known from the settings only: what a request says of itself may
 * be forged.
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
    if (isIP(hostname.replace(/^\[|\]$/g, '')))
      throw errors.conflict('Passkeys need a host name as public address (BASE_URL), not an IP address');
    return { id: hostname, origin };
  }

  /** Checks a registration ceremony. @throws Error naming what is wrong, in words for the log */
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
   * Checks everything of an authentication ceremony but the counter.
   * @throws Error naming what is wrong, in words for the log
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
      // 0: the library would compare counters before it looks at the signature, so that anybody could make a counter
      // seem to have gone backwards
      credential: { id: response.id, publicKey: bytes(publicKey), counter: 0 },
    });
    if (!verified) throw new Error('wrong signature');
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  }
}

/** A page of ours inside somebody else's could be clicked through unseen. */
function assertTopFrame(clientDataJSON: string): void {
  if (JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin)
    throw new Error('the ceremony ran inside a page of another origin');
}

/**
 * The same as if the authenticator had followed our wish for attestation `none`. We trust no makers, so a statement
 * says nothing to us, and certificates of strangers are better not parsed at all.
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
