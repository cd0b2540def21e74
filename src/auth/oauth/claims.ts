import { sha256 } from '../../platform/common/hash.js';
import { isEmail } from '../../settings/checks.js';
import type { OauthProvider } from '../../settings/oauth-settings.dto.js';

/**
 * A person at a provider, identified by `issuer` and `subject`; the other claims prove nothing.
 */
export interface Person {
  issuer: string;
  subject: string;
  /** for people: e-mail or login name */
  name: string;
  /** proposed user name, in characters that a name may have */
  username: string;
  email: string | null;
  nickname: string | null;
}

/** Length of the columns. */
const MAX = 255;

/** The issuer as stored: itself, or its hash when it is too long. */
const storedIssuer = (issuer: string): string => (issuer.length > MAX ? `sha256:${sha256(issuer)}` : issuer);

/**
 * The issuer of a plain OAuth 2.0 provider: its userinfo endpoint and the field of the subject. Pointing the provider
 * elsewhere yields other identities, not those that are bound. An issuer of OpenID has no fragment, so the two cannot
 * collide.
 */
export const plainIssuer = ({ userinfo_endpoint, subject_field }: OauthProvider): string =>
  `${userinfo_endpoint}#${subject_field}`;

/**
 * The subject as stored; null when it is unusable: empty, too long, or a rounded number, which would be ambiguous.
 */
export function subjectOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const odd = typeof value !== 'string' || !value || value.length > MAX || /[\x00-\x1f\x7f]/.test(value);
  return odd || !value.isWellFormed() ? null : value;
}

/** The value of `a` or `a.b` in a JSON object. */
export function fieldOf(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (node, key) =>
        typeof node === 'object' && node !== null && Object.hasOwn(node, key)
          ? (node as Record<string, unknown>)[key]
          : undefined,
      object,
    );
}

/** A claim as one line of bounded length; null when there is none. */
function text(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = value.toWellFormed().replace(/[\x00-\x1f\x7f]/g, ' ');
  return [...clean].slice(0, max).join('').trim() || null;
}

/**
 * The characters that a user name may have, short enough for a suffix. Characters whose lower case is longer would not
 * fit the column.
 */
const asUsername = (name: string | null | undefined): string =>
  [...(name ?? '').replace(/[^\p{L}\p{N}._@+-]/gu, '')]
    .filter((char) => char.toLowerCase().length <= char.length)
    .slice(0, 48)
    .join('');

/** The claims of a person, by the names of OpenID and of GitHub. */
export function personOf(key: string, issuer: string, subject: string, claims: Record<string, unknown>): Person {
  const address = text(claims.email, MAX);
  const email = isEmail(address) && String(claims.email_verified) !== 'false' ? address : null;
  const login = text(claims.preferred_username, MAX) ?? text(claims.login, MAX) ?? text(claims.username, MAX);
  const nickname = text(claims.name, 128);
  return {
    issuer: storedIssuer(issuer),
    subject,
    name: address ?? login ?? nickname ?? subject,
    username: [login, address?.split('@')[0], `${key}-${subject}`].map(asUsername).find(Boolean) ?? key,
    email,
    nickname,
  };
}
