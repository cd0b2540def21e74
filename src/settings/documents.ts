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
  rate_limits: { login: 20, public: 120, user: 0, token: 0 },
  session: { token_minutes: 720, idle_minutes: 10_080, absolute_days: 30 },
  password_policy: { min_length: 10, min_score: 2 },
  require_2fa_role: null,
  allowed_cidrs: [],
};

/** As stored: `password` is encrypted. */
export type StoredSmtp = SmtpSettings & { password: string | null };
/** As stored: `client_secret` is encrypted. */
export type StoredOauth = { enabled: boolean; providers: (OauthProvider & { client_secret: string | null })[] };

/** Every document of the settings, as it is until somebody changes it. */
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
    out[key] = isObject(below) && isObject(value) ? merged(below, value) : value;
  }
  return out as T;
}

/** Where a change says null although the field always has a value. */
export function nulls(defaults: object, change: object, prefix = ''): string[] {
  return Object.entries(change).flatMap(([key, value]) => {
    const known = (defaults as Record<string, unknown>)[key];
    if (value === null) return known === null ? [] : [prefix + key];
    return isObject(value) && isObject(known) ? nulls(known, value, `${prefix}${key}.`) : [];
  });
}

/** A row of the table: the document, and the role of who changed it last. */
export interface Row {
  values: Record<string, unknown>;
  by_role: number;
}

let parsed: { text: string; settings: SecuritySettings } | undefined;

/** The security settings in a row's text. The guard needs them at each request, so the newest text is not parsed twice. */
export function securityFrom(text: string | null | undefined): SecuritySettings {
  if (!text) return SECURITY;
  if (parsed?.text !== text) parsed = { text, settings: merged(SECURITY, (JSON.parse(text) as Row).values) };
  return parsed.settings;
}
