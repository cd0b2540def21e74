import { Role } from '../access/access.js';
import { FRONT_DOORS } from '../access/doors.js';
import type { AuditRules } from './audit-rules.dto.js';
import type { StoredChannel } from './channels.js';
import type { DoorsSettings } from './doors.dto.js';
import type { OauthProvider } from './oauth-settings.dto.js';
import type { GeneralSettings, SecuritySettings, SmtpSettings } from './settings.dto.js';

const GENERAL: GeneralSettings = {
  site_name: 'Zoneward',
  base_url: null,
  language: 'en',
  timezone: 'UTC',
  background_image: null,
  registration_enabled: false,
  default_ttl: 600,
  dns_resolvers: [],
  expiry_notice_days: [30, 7, 1],
};

const SECURITY: SecuritySettings = {
  login_limit: { max_failures: 5, window_minutes: 15, lock_minutes: 15, max_lock_minutes: 1440, network_failures: 100 },
  rate_limits: { login: 20, public: 120, user: 3000, token: 3000 },
  session: { token_minutes: 720, idle_minutes: 10_080, absolute_days: 30 },
  password_policy: { min_length: 10, min_score: 2 },
  require_2fa_role: null,
  allowed_cidrs: [],
};

/** As stored: `password` is encrypted. */
type StoredSmtp = SmtpSettings & { password: string | null };
/** As stored: `client_secret` is encrypted. */
type StoredOauth = { enabled: boolean; providers: (OauthProvider & { client_secret: string | null })[] };

/** The defaults of every document. */
export const DEFAULTS = {
  general: GENERAL,
  security: SECURITY,
  smtp: {
    enabled: false,
    host: '',
    port: 587,
    security: 'starttls',
    username: '',
    password: null,
    from: '',
  } as StoredSmtp,
  oauth: { enabled: false, providers: [] } as StoredOauth,
  notifications: { channels: [] as StoredChannel[] },
  'audit-rules': { retention_days: null, rules: [] } as AuditRules,
  doors: Object.fromEntries(
    Object.entries(FRONT_DOORS).map(([door, { open }]) => [door, { enabled: open }]),
  ) as unknown as DoorsSettings,
};
export type Documents = typeof DEFAULTS;
export type DocumentName = keyof Documents;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `base` with the fields of `over`; objects inside are merged, lists and values replaced. */
export function merged<T>(base: T, over: object): T {
  const out = { ...base } as Record<string, unknown>;
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const below = out[key];
    if (!isObject(below)) out[key] = value;
    // a value that is no object is ignored where an object belongs
    else if (isObject(value)) out[key] = merged(below, value);
  }
  return out as T;
}

/** The paths where a change sets null although the field always has a value. */
export function nulls(defaults: object, change: object, prefix = ''): string[] {
  return Object.entries(change).flatMap(([key, value]) => {
    const known = (defaults as Record<string, unknown>)[key];
    if (value === null) return known === null ? [] : [prefix + key];
    return isObject(value) && isObject(known) ? nulls(known, value, `${prefix}${key}.`) : [];
  });
}

/** A row of the table. */
export interface Row {
  values: Record<string, unknown>;
  /** security: what super administrators have set; this alone binds them */
  super?: Record<string, unknown>;
  /** paths of fields that an administrator set and no super administrator has confirmed */
  waiting?: string[];
  /** while fields wait: the last confirmed values, which go on serving whatever carries secrets */
  confirmed?: Record<string, unknown>;
}

let parsed:
  | { text: string; common: SecuritySettings; supers: SecuritySettings; strangers: SecuritySettings }
  | undefined;

/**
 * The security settings that bind a role, from a row's text: what an administrator set never binds a super
 * administrator. `null`: anonymous callers, who may turn out to be either, get the more permissive of both. The guard
 * needs them at each request, so the newest text is not parsed twice.
 */
export function securityFrom(text: string | null | undefined, role: number | null): SecuritySettings {
  if (!text) return SECURITY;
  if (parsed?.text !== text) {
    const row = JSON.parse(text) as Row;
    const [common, supers] = [merged(SECURITY, row.values), merged(SECURITY, row.super ?? {})];
    parsed = { text, common, supers, strangers: either(common, supers) };
  }
  if (role === null) return parsed.strangers;
  return role >= Role.Super ? parsed.supers : parsed.common;
}

/** The settings of counters and networks that all roles share, so that neither locks out the other. */
function either(a: SecuritySettings, b: SecuritySettings): SecuritySettings {
  const rate = (x: number, y: number) => (x && y ? Math.max(x, y) : 0);
  const [{ login_limit: l, rate_limits: r }, { login_limit: m, rate_limits: s }] = [a, b];
  return {
    ...a,
    login_limit: {
      ...l,
      network_failures: Math.max(l.network_failures, m.network_failures),
      window_minutes: Math.min(l.window_minutes, m.window_minutes),
    },
    rate_limits: { ...r, login: rate(r.login, s.login), public: rate(r.public, s.public) },
    allowed_cidrs: a.allowed_cidrs.length && b.allowed_cidrs.length ? [...a.allowed_cidrs, ...b.allowed_cidrs] : [],
  };
}

/** Paths of the security settings that bind administrators and users only, since an administrator set them. */
export function notBindingSupers(row: Row | undefined): string[] {
  const differing = (a: object, b: object, prefix = ''): string[] =>
    Object.entries(a).flatMap(([key, value]) => {
      const other = (b as Record<string, unknown>)[key];
      if (isObject(value) && isObject(other)) return differing(value, other, `${prefix}${key}.`);
      return JSON.stringify(value) === JSON.stringify(other) ? [] : [prefix + key];
    });
  return differing(merged(SECURITY, row?.values ?? {}), merged(SECURITY, row?.super ?? {}));
}
