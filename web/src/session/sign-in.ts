import { quietClient } from '~/api/client';
import { ApiError } from '~/api/errors';
import type { components } from '~/api/schema';
import { tellPages } from './opened-for';
import { renewBefore, type SignedIn } from './session';

type Codes = { totpCode?: string; recoveryCode?: string };

/** What a code is: six digits are of the app, all else is a recovery code. */
export const codeOf = (text: string): Codes => {
  const code = text.trim();
  return /^\d{6}$/.test(code) ? { totpCode: code } : { recoveryCode: code };
};

/** Whether a second factor is to be shown, as the failure of a sign-in says. */
export const needsCode = (error: unknown): error is ApiError => error instanceof ApiError && error.code === -2;

function signedIn({ data, response }: { data?: unknown; response: Response }): SignedIn {
  const result = data as SignedIn;
  renewBefore(result.expires_at, response);
  tellPages(result.user.id);
  return result;
}

export async function signInByPassword(username: string, password: string, code?: string): Promise<SignedIn> {
  const body = { username, password, ...(code && codeOf(code)) };
  return signedIn(await quietClient.POST('/api/auth/login', { body }));
}

export async function finishBySecondFactor(challenge_id: string, code: string): Promise<SignedIn> {
  const body = { challenge_id, ...codeOf(code) };
  return signedIn(await quietClient.POST('/api/auth/second-factor', { body }));
}

/** Whether this browser can use passkeys here: only at https and localhost. */
export const passkeysWork = (): boolean => window.isSecureContext && 'PublicKeyCredential' in window;

/**
 * Signs in by a passkey.
 * @param autofill offers the passkeys in the list of the name field, and waits there
 * @param signal ends it: while one waits, no other one could begin in this page
 * @returns null when it was called off
 */
export async function signInByPasskey(autofill: boolean, signal?: AbortSignal): Promise<SignedIn | null> {
  const { browserSupportsWebAuthnAutofill, startAuthentication, WebAuthnAbortService } = await import(
    '@simplewebauthn/browser'
  );
  if (autofill && !(await browserSupportsWebAuthnAutofill())) return null;
  const { data } = await quietClient.POST('/api/auth/webauthn/login/start', { body: {} });
  const { challenge_id, options } = data as components['schemas']['PasskeyStart'];
  if (signal?.aborted) return null;
  signal?.addEventListener('abort', () => WebAuthnAbortService.cancelCeremony());
  let response: Awaited<ReturnType<typeof startAuthentication>>;
  try {
    response = await startAuthentication({ optionsJSON: options as never, useBrowserAutofill: autofill });
  } catch (error) {
    // the user closed the dialog, another ceremony took its place, or what waited in the list cannot work here
    if (autofill || ['NotAllowedError', 'AbortError'].includes((error as Error).name)) return null;
    throw error;
  }
  const body = { challenge_id, response: response as never };
  return signedIn(await quietClient.POST('/api/auth/webauthn/login/finish', { body }));
}
