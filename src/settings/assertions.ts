import { errors, fieldError } from '../platform/common/errors.js';
import { randomHex } from '../platform/common/hash.js';
import { same } from '../platform/common/read-only.js';
import type { OrUndefined } from '../platform/common/validation.js';
import { type FieldError } from '../platform/common/words/codes.js';
import type { FieldText } from '../platform/common/words/field-text.js';
import type { AuditRules, AuditRulesInput } from './audit-rules.dto.js';
import { DEFAULTS, type DocumentName, nulls } from './documents.js';
import type { OauthProvider } from './oauth-settings.dto.js';
import type { StatusFields } from './settings.dto.js';

/** The canonical form of an address, so that another notation is no change. */
const place = (url: string | null | undefined) => (url ? new URL(url).href.replace(/\/+$/, '') : '');
export const bareHost = (host: string) => host.toLowerCase().replace(/\.$/, '');

/** Whether a stored secret would now be sent to somebody else. */
export const moved = (a: OauthProvider, b: OauthProvider) =>
  place(a.issuer) !== place(b.issuer) || place(a.token_endpoint) !== place(b.token_endpoint);

/** @throws AppError 400001 naming the fields that may be left out, but not be null */
export function assertNoNulls(name: DocumentName, change: object): void {
  const list = nulls(DEFAULTS[name], change).map((path) =>
    fieldError(path, 'must not be null; leave it out to keep it', 'required'),
  );
  if (list.length) throw errors.validation(list);
}

/** Rules with all that was left out. @throws AppError 400001 */
export function rulesOf(list: NonNullable<AuditRulesInput['rules']>): AuditRules['rules'] {
  const rules = list.map(({ id, name, enabled = true, match, threshold, window_minutes, channels = [] }) => {
    const { action = null, domain = null, actor = null } = match ?? {};
    return {
      id: id ?? randomHex(8),
      name,
      enabled,
      match: { action, domain, actor },
      threshold,
      window_minutes,
      channels,
    };
  });
  const again = rules.flatMap(({ id }, i) => (rules.findIndex((rule) => rule.id === id) < i ? [i] : []));
  if (again.length)
    throw errors.validation(
      again.map((i) => fieldError(`rules.${i}.id`, 'is the id of another rule, too', 'duplicate')),
    );
  return rules;
}

/** Read-only fields of a section. */
export type SectionStatus = OrUndefined<
  StatusFields & {
    password_set?: boolean;
    providers?: { key: string; client_secret_set?: boolean; confirmed?: boolean }[];
  }
>;

/** Read-only fields may be sent back as a GET returned them, but not changed. @throws AppError 400001 */
export function assertStatusUnchanged({ providers, ...told }: SectionStatus, is: object): void {
  const list = changed(told, is);
  const known = (is as SectionStatus).providers ?? [];
  for (const [i, { key, client_secret_set, confirmed }] of (providers ?? []).entries()) {
    const stored = known.find((provider) => provider.key === key);
    if (stored) list.push(...changed({ client_secret_set, confirmed }, stored, `providers.${i}.`));
  }
  if (list.length) throw errors.validation(list);
}

const changed = (told: object, is: object, prefix = ''): FieldError[] =>
  Object.entries(told)
    .filter(([key, value]) => value !== undefined && !same(value, (is as Record<string, unknown>)[key]))
    .map(([key]) => fieldError(prefix + key, TOLD[key] ?? 'follows from what is stored', 'read_only'));

const CONFIRM = 'cannot be set: POST /api/settings/:section/confirm, by a super administrator';
const TOLD: Record<string, FieldText> = { confirmed: CONFIRM, waiting: CONFIRM };

const isTrusted = (url: string) =>
  url.startsWith('https:') || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** What a provider lacks to be a complete OpenID or OAuth 2.0 provider. */
export function incomplete(provider: OauthProvider, path: string): FieldError[] {
  const plain = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'subject_field'] as const;
  const open = (['issuer', ...plain.slice(0, 3)] as const).filter((field) => {
    const url = provider[field];
    return url && !isTrusted(url);
  });
  if (open.length)
    return open.map((field) => fieldError(`${path}.${field}`, 'must be https; plain http is for loopback only'));
  const given = plain.filter((field) => provider[field]);
  if (provider.issuer) {
    const words = 'belongs to providers without issuer; leave one of the two out';
    return given.slice(0, 1).map((field) => fieldError(`${path}.${field}`, words, 'conflict'));
  }
  if (!given.length) {
    const words = 'is needed, or the endpoints and subject_field of a plain OAuth 2.0 provider';
    return [fieldError(`${path}.issuer`, words, 'required')];
  }
  const missing = plain.filter((field) => !provider[field]);
  return missing.map((field) => fieldError(`${path}.${field}`, 'is needed', 'required'));
}
