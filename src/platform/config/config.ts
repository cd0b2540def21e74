import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Cidr, parseCidr } from '../common/cidr.js';
import { misspelt } from './misspelt.js';

/**
 * The database: set by `DATABASE_URL`, or chosen in the setup flow and stored in `database.json` of the data directory.
 */
export type DatabaseChoice =
  | { type: 'sqlite'; path: string }
  | {
      type: 'mysql' | 'postgresql';
      host: string;
      port: number;
      database: string;
      user: string;
      password: string;
      ssl: boolean;
      /** false: no prepared statements; omitted means true. */
      prepared?: boolean;
    };

/** The configuration of a process, parsed once at start. */
export interface Config {
  port: number;
  host: string;
  /** Port at which the door `powerdns` is the root; null: none. */
  powerdnsPort: number | null;
  /** The listener for DNS messages (RFC 2136), UDP and TCP; null: that of HTTP, and none. */
  dns: { host: string | null; port: number | null };
  /** Origins whose pages may call the API from a browser, besides its own. */
  corsOrigins: string[];
  /** Public URL of the service without trailing slash; null: the host of each request is used. */
  baseUrl: string | null;
  /** Path of `baseUrl` without trailing slash, '' at the root; requests may include or omit it. */
  basePath: string;
  /** Absolute path. */
  dataDir: string;
  /** Set by the environment; null: chosen in the setup flow. */
  database: DatabaseChoice | null;
  /** Timeout of a statement in ms. */
  databaseTimeoutMs: number;
  redisUrl: string | null;
  /** The first key encrypts, all decrypt; empty: a key file in the data directory. */
  secretKeys: string[];
  setupCode: string | null;
  admin: { username: string; password: string } | null;
  trustedProxies: Cidr[];
  outboundAllow: Cidr[];
  outboundDeny: Cidr[];
  logLevel: string;
  providerTimeoutMs: number;
  /** ms in which requests that wait for locks or providers are answered. */
  requestDeadlineMs: number;
  /** ms in which a provider may still apply a request whose answer was lost. */
  unclearAfterMs: number;
  zoneFiles: { root: string; reloadCommand: string | null };
  /** Hours between backups, 0 = no automatic backups; `keep` of them are kept. */
  backup: { everyHours: number; keep: number };
  /** ms after which a request or a provider call is logged as slow. */
  slowMs: number;
  /** ms in which requests are still served after SIGTERM, while `/health/ready` reports unavailable. */
  drainMs: number;
  /** Base URLs of other nodes that also check failover targets, and the key that authenticates their results. */
  checkers: string[];
  checkerSecret: string | null;
  /** Reference hosts: an instance that cannot reach any of them has lost its own network. */
  checkReferences: { host: string; port: number }[];
  /** `/metrics` on the main port and optionally on its own; null token: no authentication. */
  metrics: { on: boolean; port: number | null; token: string | null };
  /** OpenTelemetry variables for its packages; null: tracing is off. */
  traces: Readonly<
    Record<'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME', string>
  > | null;
  /** Unknown variables and the known names that they resemble. */
  misspelt: { name: string; meant: string }[];
  /** Sources of registration expiry dates. */
  expiry: {
    /** Whether registries may be queried at all. */
    lookups: boolean;
    /** URL of IANA's list of RDAP servers. */
    bootstrapUrl: string;
    /** Base URL by top-level domain; overrides IANA's list. */
    rdapServers: Record<string, string>;
    /** `host` or `host:port` by top-level domain; overrides the built-in table; `.` is IANA's server. */
    whoisServers: Record<string, string>;
  };
}

/** Environment variables with invalid values; the message names each of them. */
export class ConfigError extends Error {}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * `sqlite:name.db`, `mysql://…`, `mariadb://…`, `postgres://…`.
 * @throws Error naming what is wrong, without the password
 */
export function parseDatabaseUrl(url: string, dataDir: string): DatabaseChoice {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length).replace(/^\/\//, '');
    if (!path) throw new Error('sqlite: needs a file name, such as sqlite:zoneward.db');
    return { type: 'sqlite', path: isAbsolute(path) ? path : join(dataDir, path) };
  }
  if (!URL.canParse(url)) throw new Error('is not a URL');
  const parsed = new URL(url);
  const type = { 'mysql:': 'mysql', 'mariadb:': 'mysql', 'postgres:': 'postgresql', 'postgresql:': 'postgresql' }[
    parsed.protocol
  ] as 'mysql' | 'postgresql' | undefined;
  if (!type) throw new Error('must start with sqlite:, mysql://, mariadb:// or postgres://');
  const database = decodeURIComponent(parsed.pathname.slice(1));
  if (!parsed.hostname || !database) throw new Error('needs a host and a database name');
  const prepared = ['false', '0'].includes(parsed.searchParams.get('prepared') ?? '') ? { prepared: false } : {};
  const ssl = parsed.searchParams.get('ssl') ?? parsed.searchParams.get('sslmode');
  return {
    type,
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port) || (type === 'mysql' ? 3306 : 5432),
    database,
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    ssl: ssl !== null && !['false', '0', 'disable'].includes(ssl),
    ...prepared,
  };
}

/**
 * The environment merged with the `.env` file in `directory`; existing variables take precedence.
 * @throws ConfigError when the file cannot be read
 */
export function readEnvironment(directory: string): Record<string, string | undefined> {
  const file = join(directory, '.env');
  if (!existsSync(file)) return process.env;
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...process.env };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${file} cannot be read (${code}): let the user that runs the service read it, or remove it`);
  }
}

/** @throws ConfigError naming every variable with an invalid value */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  const known = new Set(['ADMIN_PASSWORD']);
  /** An empty value means: not set. */
  const read = <T>(name: string, fallback: T, parse: (text: string) => T): T => {
    known.add(name);
    const value = env[name]?.trim();
    if (!value) return fallback;
    try {
      return parse(value);
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`);
      return fallback;
    }
  };
  const text = (value: string) => value;
  const whole = (min: number, max: number) => (value: string) => {
    if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max) {
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`);
    }
    return Number(value);
  };
  const list = (value: string) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean);
  const cidrs = (value: string) => list(value).map(parseCidr);

  const address = (value: string) => {
    if (!isIP(value)) throw new Error(`must be an IP address such as 0.0.0.0 or ::, not "${value}"`);
    return value;
  };

  const dataDir = resolve(read('DATA_DIR', './data', text));
  const baseUrl = read<string | null>('BASE_URL', null, (value) => {
    const ok = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
    if (!ok || new URL(value).search || new URL(value).hash) {
      throw new Error('must be an http or https URL such as https://dns.example.com');
    }
    return value.replace(/\/+$/, '');
  });
  const username = read<string | null>('ADMIN_USERNAME', null, text);
  const password = env.ADMIN_PASSWORD || null;
  if ((username === null) !== (password === null)) {
    problems.push('ADMIN_USERNAME and ADMIN_PASSWORD must be set together');
  }
  const onOff = (value: string) => {
    if (value !== 'on' && value !== 'off') throw new Error('must be on or off');
    return value === 'on';
  };
  const httpUrl = (value: string) => {
    if (!/^https?:\/\/[^/]/i.test(value) || !URL.canParse(value)) throw new Error('must be an http or https URL');
    return value;
  };
  /** `de=…,fr=…` */
  const byTld = (address: (value: string) => string) => (value: string) =>
    Object.fromEntries(
      value
        .split(',')
        .filter((entry) => entry.trim())
        .map((entry) => {
          const [, tld, target] = /^\s*(\.|[a-z0-9-]+)\s*=\s*(\S+)\s*$/i.exec(entry) ?? [];
          if (!tld || !target) throw new Error('must be a list such as de=ADDRESS,fr=ADDRESS');
          return [tld.toLowerCase(), address(target)];
        }),
    );
  const metrics = {
    on: read('METRICS', false, onOff),
    port: read<number | null>('METRICS_PORT', null, whole(1, 65535)),
    token: read<string | null>('METRICS_TOKEN', null, (value) => {
      if (!/^[\x21-\x7e]{16,}$/.test(value))
        throw new Error('must have at least 16 characters (try: openssl rand -hex 32)');
      return value;
    }),
  };
  if (metrics.on && !metrics.token) problems.push('METRICS=on needs METRICS_TOKEN, or strangers could read them');
  const endpoint = read<string | null>('OTEL_EXPORTER_OTLP_ENDPOINT', null, (value) => {
    const url = URL.canParse(value) ? new URL(value) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search)
      throw new Error('must be an http or https URL without user name and query, such as http://collector:4318');
    return value;
  });
  const traces = {
    OTEL_EXPORTER_OTLP_HEADERS: read('OTEL_EXPORTER_OTLP_HEADERS', '', text),
    OTEL_SERVICE_NAME: read('OTEL_SERVICE_NAME', 'zoneward', text),
  };
  const config: Config = {
    port: read('PORT', 3000, whole(0, 65535)),
    host: read('HOST', '0.0.0.0', text),
    powerdnsPort: read<number | null>('POWERDNS_PORT', null, whole(1, 65535)),
    dns: {
      host: read<string | null>('DNS_HOST', null, address),
      port: read<number | null>('DNS_PORT', null, whole(1, 65535)),
    },
    baseUrl,
    basePath: baseUrl ? new URL(baseUrl).pathname.replace(/\/+$/, '') : '',
    dataDir,
    database: read<DatabaseChoice | null>('DATABASE_URL', null, (value) => parseDatabaseUrl(value, dataDir)),
    databaseTimeoutMs: read('DATABASE_TIMEOUT_MS', 30_000, whole(1000, 3_600_000)),
    redisUrl: read<string | null>('REDIS_URL', null, (value) => {
      if (!/^rediss?:\/\/[^/]/.test(value)) throw new Error('must be a redis:// or rediss:// URL');
      return value;
    }),
    secretKeys: read('SECRET_KEY', [] as string[], (value) =>
      value.split(',').map((key) => {
        if (key.trim().length < 32) throw new Error('must have at least 32 characters (try: openssl rand -hex 32)');
        return key.trim();
      }),
    ),
    setupCode: read<string | null>('SETUP_CODE', null, (value) => {
      if (value.length < 12) throw new Error('must have at least 12 characters (try: openssl rand -hex 32)');
      return value;
    }),
    admin: username && password ? { username, password } : null,
    corsOrigins: read('CORS_ORIGINS', [] as string[], (value) =>
      list(value).map((origin) => {
        const ok =
          URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).origin === origin;
        if (!ok) throw new Error(`must be origins such as https://console.example.com, with commas, not "${origin}"`);
        return origin;
      }),
    ),
    trustedProxies: read('TRUSTED_PROXIES', [] as Cidr[], cidrs),
    outboundAllow: read('OUTBOUND_ALLOW', [] as Cidr[], cidrs),
    outboundDeny: read('OUTBOUND_DENY', [] as Cidr[], cidrs),
    logLevel: read('LOG_LEVEL', 'info', (value) => {
      if (!LOG_LEVELS.includes(value)) throw new Error(`must be one of ${LOG_LEVELS.join(', ')}`);
      return value;
    }),
    providerTimeoutMs: read('PROVIDER_TIMEOUT_MS', 10_000, whole(100, 120_000)),
    requestDeadlineMs: read('REQUEST_DEADLINE_MS', 50_000, whole(1000, 50_000)),
    unclearAfterMs: read('UNCLEAR_AFTER_MS', 60_000, whole(0, 3_600_000)),
    misspelt: [],
    zoneFiles: {
      root: resolve(dataDir, read('ZONEFILE_DIR', 'zones', text)),
      reloadCommand: read<string | null>('ZONEFILE_RELOAD_COMMAND', null, text),
    },
    backup: {
      everyHours: read('BACKUP_EVERY_HOURS', 0, whole(0, 500)),
      keep: read('BACKUP_KEEP', 7, whole(1, 1000)),
    },
    checkers: read('CHECKERS', [] as string[], (value) =>
      list(value).map((url) => {
        const ok = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
        if (!ok) throw new Error(`must be http or https URLs such as https://dns2.example.com, not "${url}"`);
        return url.replace(/\/+$/, '');
      }),
    ),
    checkerSecret: read<string | null>('CHECKER_SECRET', null, (value) => {
      if (value.length < 32) throw new Error('must have at least 32 characters (try: openssl rand -hex 32)');
      return value;
    }),
    checkReferences: read('CHECK_REFERENCES', [] as Config['checkReferences'], (value) =>
      list(value).map((text) => {
        const [, host, port] =
          /^(?:\[([\da-f:.]+)\]|([^\s:]+)):(\d{1,5})$/i.exec(text)?.filter((one) => one !== undefined) ?? [];
        if (!host || Number(port) < 1 || Number(port) > 65535)
          throw new Error(`must be host:port, such as 192.0.2.1:443, not "${text}"`);
        return { host, port: Number(port) };
      }),
    ),
    slowMs: read('SLOW_REQUEST_MS', 2000, whole(1, 3_600_000)),
    drainMs: read('DRAIN_MS', 5000, whole(0, 300_000)),
    metrics,
    traces: endpoint === null ? null : { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...traces },
    expiry: {
      lookups: read('EXPIRY_LOOKUPS', true, onOff),
      bootstrapUrl: read('RDAP_BOOTSTRAP_URL', 'https://data.iana.org/rdap/dns.json', httpUrl),
      rdapServers: read(
        'RDAP_SERVERS',
        {} as Record<string, string>,
        byTld((value) => httpUrl(value).replace(/\/*$/, '/')),
      ),
      whoisServers: read(
        'WHOIS_SERVERS',
        {} as Record<string, string>,
        byTld((value) => {
          if (!/^[a-z0-9.-]+(:\d{1,5})?$/i.test(value)) throw new Error('must name servers as HOST or HOST:PORT');
          return value.toLowerCase();
        }),
      ),
    },
  };
  if (config.dns.port !== null && !isIP(config.dns.host ?? config.host))
    problems.push('DNS_PORT needs DNS_HOST, since HOST is no address');
  config.misspelt = misspelt(Object.keys(env), [...known]);
  if (config.checkers.length && !config.checkerSecret) problems.push('CHECKERS need CHECKER_SECRET, the same at all');
  if (problems.length) throw new ConfigError(`Wrong configuration:\n  ${problems.join('\n  ')}`);
  return config;
}
