import { errors, type FieldError } from '../common/errors.js';
import type { CredentialField, Credentials, ProviderDefinition } from '../providers/provider.js';

const PATH = 'credentials';

function problemOf(field: CredentialField, value: unknown): string | null {
  if (typeof value !== 'string') return 'must be text';
  if (value.length > 4096) return 'is longer than 4096 characters';
  if (field.values && !field.values.includes(value)) return `must be one of ${field.values.join(', ')}`;
  if (field.kind === 'number' && !/^\d{1,5}$/.test(value)) return 'must be a number';
  if (field.kind === 'url' && !(URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) {
    return 'must be an http or https URL';
  }
  if (field.kind === 'url' && (new URL(value).username || new URL(value).password)) {
    return 'must not hold a user name or password';
  }
  return null;
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
 * @throws AppError 400001 naming every wrong field
 */
export function readCredentials(
  definition: ProviderDefinition,
  given: Record<string, unknown>,
  stored: Credentials = {},
): Credentials {
  const fields = new Map(definition.credentials.flat().map((f) => [f.key, f]));
  const problems: FieldError[] = [];
  const values: Record<string, string> = { ...stored };
  for (const [key, raw] of Object.entries(given)) {
    const field = fields.get(key);
    if (!field) {
      problems.push({
        path: `${PATH}.${key}`,
        message: `is not a credential of ${definition.kind}: ${[...fields.keys()].join(', ')}`,
      });
      continue;
    }
    const value = asText(field, raw);
    delete values[key];
    if (value === null || value === undefined || value === '') continue;
    // what an account's answer shows for a secret, sent back unchanged, keeps the stored value
    if (field.secret && value === '***') {
      if (stored[key] !== undefined) values[key] = stored[key];
      continue;
    }
    const problem = problemOf(field, value);
    if (problem) problems.push({ path: `${PATH}.${key}`, message: problem });
    else values[key] = value as string;
  }
  if (problems.length) throw errors.validation(problems);

  const missing = definition.credentials.map((fields) =>
    fields.filter((f) => f.required && values[f.key] === undefined),
  );
  const best = missing.findIndex((list) => list.length === 0);
  if (best < 0) {
    const closest = missing.reduce((a, b) => (b.length < a.length ? b : a));
    const hint = definition.credentials.length > 1 ? ` (alternatives: ${alternatives(definition)})` : '';
    throw errors.validation(
      closest.map((f) => ({ path: `${PATH}.${f.key}`, message: `is required: ${f.label}${hint}` })),
    );
  }
  const chosen = definition.credentials[best] as CredentialField[];
  for (const field of chosen) {
    if (field.default !== undefined) values[field.key] ??= field.default;
  }
  // an alternative is taken whole: what belongs to another one would only confuse the next reader
  const keys = new Set(chosen.map((f) => f.key));
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.has(key)));
}

const alternatives = (definition: ProviderDefinition): string =>
  definition.credentials
    .map((fields) =>
      fields
        .filter((f) => f.required)
        .map((f) => f.key)
        .join(' + '),
    )
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
