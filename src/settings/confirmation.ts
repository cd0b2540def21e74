import { Role } from '../access/access.js';
import type { DocumentName, Documents, Row } from './documents.js';

/** Sections with fields that decide where secrets are sent or who can sign in. */
export const CONFIRMED_SECTIONS = ['general', 'smtp', 'oauth'] as const;
export type ConfirmedSection = (typeof CONFIRMED_SECTIONS)[number];

const needsConfirmation = (name: DocumentName): name is ConfirmedSection =>
  (CONFIRMED_SECTIONS as readonly string[]).includes(name);

const FIELDS: Record<Exclude<ConfirmedSection, 'oauth'>, readonly string[]> = {
  general: ['base_url'],
  smtp: ['host', 'port', 'security', 'username'],
};

/** Fields of each OAuth provider; not `auto_create`, which, like open registration, creates users without rights. */
const OF_PROVIDER = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'subject_field',
  'client_id',
  'trusted_2fa',
];

type Values = Readonly<Record<string, unknown>>;

/**
 * The fields of a document that need a super administrator, by path: `host`, of OAuth providers `corp.issuer`. Not set,
 * empty and false are the same.
 */
function guarded(name: DocumentName, document: Documents[DocumentName]): Map<string, unknown> {
  const value = (of: object, field: string) => (of as Values)[field] || null;
  if (!needsConfirmation(name)) return new Map();
  if (name !== 'oauth') return new Map(FIELDS[name].map((field) => [field, value(document, field)]));
  const { providers } = document as Documents['oauth'];
  return new Map(providers.flatMap((p) => OF_PROVIDER.map((field) => [`${p.key}.${field}`, value(p, field)])));
}

/**
 * The guarded paths that a change names. The list of providers is replaced as a whole, so each of them is named with
 * all its fields.
 */
export function namedBy(name: DocumentName, input: object): string[] {
  if (!needsConfirmation(name)) return [];
  if (name !== 'oauth') return FIELDS[name].filter((field) => (input as Values)[field] !== undefined);
  const providers = (input as Partial<Documents['oauth']>).providers ?? [];
  return providers.flatMap((p) => OF_PROVIDER.map((field) => `${p.key}.${field}`));
}

/**
 * What a row holds besides its values when they change: the fields that wait, and, while any waits, the last values
 * that were confirmed as a whole. A mixture would send a password to a server that it was never meant for.
 * @param named paths that a super administrator named
 */
export function confirmation<N extends DocumentName>(
  name: N,
  row: Row | undefined,
  { old, value }: { old: Documents[N]; value: Documents[N] },
  role: number,
  named: readonly string[],
): Pick<Row, 'waiting' | 'confirmed'> {
  const [before, after] = [guarded(name, old), guarded(name, value)];
  const changed = [...after.keys()].filter((path) => (before.get(path) ?? null) !== after.get(path));
  const waited = (row?.waiting ?? []).filter((path) => after.has(path));
  const waiting =
    role < Role.Super
      ? [...new Set([...waited, ...changed])]
      : waited.filter((path) => !changed.includes(path) && !named.includes(path));
  if (!waiting.length) return {};
  if (name !== 'general' && name !== 'smtp') return { waiting };
  // the password belongs to its server
  const whole = name === 'smtp' ? [...FIELDS.smtp, 'password'] : FIELDS.general;
  const kept = () => Object.fromEntries(whole.map((field) => [field, (old as unknown as Values)[field] ?? null]));
  return { waiting, confirmed: row?.confirmed ?? kept() };
}

/** Whether a provider may be signed in at. */
export const isConfirmed = (row: Row | undefined, key: string): boolean =>
  !row?.waiting?.some((path) => path.startsWith(`${key}.`));
