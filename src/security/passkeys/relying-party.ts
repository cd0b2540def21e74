import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import {
  COSEALG,
  decodeAttestationObject,
  decodeClientDataJSON,
  isoBase64URL,
  isoCBOR,
} from '@simplewebauthn/server/helpers';
import { errors } from '../../common/errors.js';
import { SettingsService } from '../../settings/settings.service.js';
import { isCredentialId } from './credential-json.js';

/** Said aloud: the library's own list differs between versions of Node, and replicas may differ in those. */
export const ALGORITHMS = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

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

/** Who we are to browsers, and what we accept from them. Known from the settings only: what a request says of itself may be forged. */
@Injectable()
export class RelyingParty {
  constructor(private readonly settings: SettingsService) {}

  /** Host name and origin of the public address. @throws AppError 409001 when that is an IP address: browsers know no passkeys there */
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
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...response,
        response: { ...response.response, attestationObject: withoutStatement(attestationObject) },
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
    if (!isCredentialId(isoBase64URL.toBuffer(credential.id))) throw new Error('length of the credential id');
    if (credential.publicKey.length > MAX_KEY_BYTES) throw new Error('length of the public key');
    return {
      id: credential.id,
      publicKey: isoBase64URL.fromBuffer(credential.publicKey),
      counter: credential.counter,
      transports,
      backedUp: credentialBackedUp,
    };
  }

  /** Checks everything of an authentication ceremony but the counter. @throws Error naming what is wrong, in words for the log */
  async verifyUse(
    response: AuthenticationResponseJSON,
    challenge: string,
    publicKey: string,
  ): Promise<{ counter: number; backedUp: boolean }> {
    const { id, origin } = await this.identity();
    assertTopFrame(response.response.clientDataJSON);
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      // 0: the library would compare counters before it looks at the signature, so that anybody could make a counter seem to have gone backwards
      credential: { id: response.id, publicKey: isoBase64URL.toBuffer(publicKey), counter: 0 },
    });
    if (!verified) throw new Error('wrong signature');
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  }
}

/** A page of ours inside somebody else's could be clicked through unseen. */
function assertTopFrame(clientDataJSON: string): void {
  if (decodeClientDataJSON(clientDataJSON).crossOrigin)
    throw new Error('the ceremony ran inside a page of another origin');
}

/**
 * The same as if the authenticator had followed our wish for attestation `none`. We trust no makers, so a statement says nothing to us, and certificates of
 * strangers are better not parsed at all.
 */
function withoutStatement(attestationObject: string): string {
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData');
  const bare = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(bare as never) as never);
}
