import { errors, fieldError } from '../platform/common/errors.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { alternativeOf, alternativesOf } from '../providers/alternatives.js';
import type { CredentialField, Credentials, Installation, ProviderDefinition } from '../providers/provider.js';

const PATH = 'credentials';

function problemOf(field: CredentialField, value: unknown, installation: Installation): FieldText | null {
  if (typeof value !== 'string') return 'must be text';
  if (value.length > 4096) return 'is longer than 4096 characters';
  if (field.values && !field.values.includes(value))
    return say('must be one of {values}', { values: field.values.join(', ') });
  if (field.kind === 'number' && !/^\d{1,5}$/.test(value)) return 'must be a number';
  if (field.kind === 'url' && !(URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) {
    return 'must be an http or https URL';
  }
  if (field.kind === 'url' && (new URL(value).username || new URL(value).password)) {
    return 'must not hold a user name or password';
  }
  return field.problem?.(value, installation) ?? null;
}

/** Text of what a client sent: numbers and lists are accepted where the field is one. */
function asText(field: CredentialField, value: unknown): unknown {
  if (field.kind === 'number' && typeof value === 'number') return String(value);
  if (field.kind === 'list' && Array.isArray(value) && value.every((v) => typeof v === 'string'))
    return value.join(',');
  return typeof value === 'string' ? value.trim() : value;
}

/**
 * Credentials that fit one of the provider's alternatives, defaults filled in. Empty and null values count as left out.
 * @param stored on a change: values that a field left out keeps; null clears
 * @param installation what the configuration says to the provider
 * @throws AppError 400001 naming every wrong field, and every stored secret that would now be sent elsewhere
 */
export function readCredentials(
  definition: ProviderDefinition,
  given: Record<string, unknown>,
  stored: Credentials = {},
  installation: Installation = {},
): Credentials {
  const values = takeOver(definition, given, stored, installation);
  const chosen = chooseAlternative(definition, values);
  for (const field of chosen) {
    if (field.default !== undefined) values[field.key] ??= field.default;
  }
  // an alternative is taken whole: what belongs to another one would only confuse the next reader
  const keys = new Set(chosen.map((f) => f.key));
  const result = Object.fromEntries(Object.entries(values).filter(([key]) => keys.has(key)));
  assertSecretsStay(definition, given, stored, result);
  return result;
}

/** The stored values, changed as given. @throws AppError 400001 naming every wrong field */
function takeOver(
  definition: ProviderDefinition,
  given: Record<string, unknown>,
  stored: Credentials,
  installation: Installation,
): Record<string, string> {
  const fields = new Map(definition.credentials.flat().map((f) => [f.key, f]));
  const problems: FieldError[] = [];
  const values: Record<string, string> = { ...stored };
  for (const [key, raw] of Object.entries(given)) {
    const field = fields.get(key);
    if (!field) {
      const known = [...fields.keys()];
      const words = say('is not a credential of {provider}: {fields}', {
        provider: definition.kind,
        fields: known.join(', '),
      });
      problems.push(fieldError(`${PATH}.${key}`, words, 'unknown', { values: known }));
      continue;
    }
    const value = asText(field, raw);
    // what an account's answer shows for a secret, sent back unchanged, keeps the stored value
    if (field.secret && value === '***') continue;
    delete values[key];
    if (value === null || value === undefined || value === '') continue;
    const problem = problemOf(field, value, installation);
    if (problem) problems.push(fieldError(`${PATH}.${key}`, problem));
    else values[key] = value as string;
  }
  if (problems.length) throw errors.validation(problems);
  return values;
}

/** See `alternativeOf`. @throws AppError 400001 naming what the closest alternative lacks */
function chooseAlternative(definition: ProviderDefinition, values: Record<string, string>): CredentialField[] {
  const best = alternativeOf(definition, values);
  if (best >= 0) return definition.credentials[best] as CredentialField[];
  const missing = definition.credentials.map((fields) =>
    fields.filter((f) => f.required && values[f.key] === undefined),
  );
  const closest = missing.reduce((a, b) => (b.length < a.length ? b : a));
  const words = ({ label }: CredentialField) =>
    definition.credentials.length > 1
      ? say('is required: {label} (alternatives: {alternatives})', { label, alternatives: alternatives(definition) })
      : say('is required: {label}', { label });
  throw errors.validation(closest.map((f) => fieldError(`${PATH}.${f.key}`, words(f), 'required')));
}

/**
 * A stored secret is sent to the stored address only: whoever changes the address has to enter the secret again.
 * @throws AppError 400001 naming each secret
 */
function assertSecretsStay(
  definition: ProviderDefinition,
  given: Record<string, unknown>,
  stored: Credentials,
  result: Credentials,
): void {
  const fields = definition.credentials.flat();
  const placeOf = (field: CredentialField, values: Credentials) => place(values[field.key] ?? field.default);
  const moved = fields.find((f) => f.address && placeOf(f, stored) !== placeOf(f, result));
  // each alternative may go to another address, which only the adapter knows
  if (!moved && alternativeOf(definition, stored) === alternativeOf(definition, result)) return;
  const kept = fields.filter((f) => f.secret && result[f.key] !== undefined && !isSent(given[f.key]));
  const words: FieldText = moved
    ? say('must be sent again, because {field} changes: it would go elsewhere', { field: moved.key })
    : 'must be sent again, because the way to sign in changes: it would go elsewhere';
  const keys = [...new Set(kept.map((f) => f.key))].filter((key) => stored[key] !== undefined);
  if (keys.length) throw errors.validation(keys.map((key) => fieldError(`${PATH}.${key}`, words, 'required')));
}

/** `***` is what answers show: sending it back does not prove that the client knows the secret. */
const isSent = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '***';

/** The canonical form of an address: another spelling of the same address is no change. */
function place(value: string | undefined): string {
  const bare = (text: string) => text.replace(/[/.]+$/, '');
  if (!value) return '';
  if (!/^https?:/i.test(value) || !URL.canParse(value)) return bare(value.toLowerCase());
  const { protocol, host, pathname, search } = new URL(value);
  return `${protocol}//${bare(host)}${pathname.replace(/\/+$/, '')}${search}`;
}

const alternatives = (definition: ProviderDefinition): string =>
  alternativesOf(definition)
    .map(({ required }) => required.join(' + '))
    .join(' or ');

/** Credentials as answers show them: secrets as `***`. */
export function shownCredentials(definition: ProviderDefinition | undefined, values: Credentials): Credentials {
  const open = new Set(
    (definition?.credentials ?? [])
      .flat()
      .filter((f) => !f.secret)
      .map((f) => f.key),
  );
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, open.has(key) ? value : '***']));
}

/** The same for the audit log, which also names the secrets that changed: `api_key_changed`. */
export function auditedCredentials(
  definition: ProviderDefinition | undefined,
  values: Credentials,
  former: Credentials,
): Record<string, string | boolean> {
  const shown = shownCredentials(definition, values);
  const changed = Object.keys(values).filter((key) => shown[key] === '***' && values[key] !== former[key]);
  return { ...shown, ...Object.fromEntries(changed.map((key) => [`${key}_changed`, true])) };
}
