import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, it } from '@jest/globals';
import { readChoice, writeChoice } from '../../src/platform/config/choice-file.js';
import { ConfigError, parseConfig, parseDatabaseUrl, readEnvironment } from '../../src/platform/config/config.js';
import { atEndOfTest } from '../support/suites.js';

const KEY = 'k'.repeat(32);

const EXPIRY = parseConfig({}).expiry;

/** Variable, good text, and the part of the configuration that comes of it. */
const GOOD: [string, string, unknown][] = [
  ['PORT', '8080', { port: 8080 }],
  ['PORT', '0', { port: 0 }],
  ['PORT', ' 443 ', { port: 443 }],
  ['PORT', '', { port: 3000 }],
  ['HOST', '::1', { host: '::1' }],
  ['DNS_HOST', '::1', { dns: { host: '::1', port: null } }],
  ['DNS_PORT', '53', { dns: { host: null, port: 53 } }],
  ['BASE_URL', 'https://dns.example.com', { baseUrl: 'https://dns.example.com', basePath: '' }],
  ['BASE_URL', 'https://example.com/tools/dns//', { baseUrl: 'https://example.com/tools/dns', basePath: '/tools/dns' }],
  ['DATA_DIR', '/srv/zones', { dataDir: '/srv/zones', zoneFiles: { root: '/srv/zones/zones', reloadCommand: null } }],
  [
    'CORS_ORIGINS',
    'https://a.example, http://b.example:8080',
    { corsOrigins: ['https://a.example', 'http://b.example:8080'] },
  ],
  ['DATABASE_URL', 'sqlite:a.db', { database: { type: 'sqlite', path: resolve('data/a.db') } }],
  ['REDIS_URL', 'rediss://cache:6379/1', { redisUrl: 'rediss://cache:6379/1' }],
  ['SECRET_KEY', `${KEY}, ${'o'.repeat(40)}`, { secretKeys: [KEY, 'o'.repeat(40)] }],
  ['SETUP_CODE', 'open sesame!', { setupCode: 'open sesame!' }],
  ['LOG_LEVEL', 'trace', { logLevel: 'trace' }],
  ['PROVIDER_TIMEOUT_MS', '2500', { providerTimeoutMs: 2500 }],
  ['REQUEST_DEADLINE_MS', '2500', { requestDeadlineMs: 2500 }],
  ['UNCLEAR_AFTER_MS', '2500', { unclearAfterMs: 2500 }],
  [
    'RDAP_SERVERS',
    'COM=http://127.0.0.1:80/x, corp=https://r.example//',
    { expiry: { ...EXPIRY, rdapServers: { com: 'http://127.0.0.1:80/x/', corp: 'https://r.example/' } } },
  ],
  [
    'WHOIS_SERVERS',
    '.=127.0.0.1:4343,corp=whois.example',
    { expiry: { ...EXPIRY, whoisServers: { '.': '127.0.0.1:4343', corp: 'whois.example' } } },
  ],
  ['EXPIRY_LOOKUPS', 'off', { expiry: { ...EXPIRY, lookups: false } }],
  ['BACKUP_EVERY_HOURS', '24', { backup: { everyHours: 24, keep: 7 } }],
  ['BACKUP_KEEP', '3', { backup: { everyHours: 0, keep: 3 } }],
  ['ZONEFILE_DIR', '/etc/bind/zones', { zoneFiles: { root: '/etc/bind/zones', reloadCommand: null } }],
  [
    'CHECK_REFERENCES',
    '192.0.2.1:443, [2001:db8::1]:53',
    {
      checkReferences: [
        { host: '192.0.2.1', port: 443 },
        { host: '2001:db8::1', port: 53 },
      ],
    },
  ],
  [
    'ZONEFILE_RELOAD_COMMAND',
    'rndc reload',
    { zoneFiles: { root: resolve('data/zones'), reloadCommand: 'rndc reload' } },
  ],
];

const WRONG: [string, string][] = [
  ['PORT', '-1'],
  ['PORT', '65536'],
  ['PORT', '80x'],
  ['PORT', '1e3'],
  ['CORS_ORIGINS', '*'],
  ['CORS_ORIGINS', 'https://console.example.com/'],
  ['BASE_URL', 'dns.example.com'],
  ['BASE_URL', 'ftp://dns.example.com'],
  ['BASE_URL', 'https://dns.example.com/?a=1'],
  ['BASE_URL', 'https://dns.example.com/#a'],
  ['DATABASE_URL', 'sqlite:'],
  ['DATABASE_URL', 'oracle://db/x'],
  ['DATABASE_URL', 'zoneward'],
  ['DATABASE_URL', 'postgres://db'],
  ['DATABASE_URL', 'mysql://u:%zz@db/x'],
  ['REDIS_URL', 'http://cache'],
  ['REDIS_URL', 'redis://'],
  ['SECRET_KEY', 'short'],
  ['SETUP_CODE', 'eleven-char'],
  ['SECRET_KEY', `${KEY},short`],
  ['SECRET_KEY', `${KEY},`],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', 'localhost'],
  ['OUTBOUND_ALLOW', '10.0.0.0/8,x'],
  ['EXPIRY_LOOKUPS', 'yes'],
  ['RDAP_BOOTSTRAP_URL', 'data.iana.org'],
  ['RDAP_SERVERS', 'com'],
  ['RDAP_SERVERS', 'com=rdap.example'],
  ['WHOIS_SERVERS', 'com=whois://x'],
  ['OUTBOUND_DENY', '::/129'],
  ['LOG_LEVEL', 'loud'],
  ['PROVIDER_TIMEOUT_MS', '99'],
  ['PROVIDER_TIMEOUT_MS', '120001'],
  ['REQUEST_DEADLINE_MS', '999'],
  ['REQUEST_DEADLINE_MS', '50001'],
  ['BACKUP_EVERY_HOURS', '501'],
  ['BACKUP_KEEP', '0'],
  ['SLOW_REQUEST_MS', '0'],
  ['DRAIN_MS', '300001'],
  ['CHECKERS', 'dns2.example.com'],
  ['CHECKERS', 'https://dns2.example.com'],
  ['CHECKER_SECRET', 'short'],
  ['CHECK_REFERENCES', '192.0.2.1'],
  ['CHECK_REFERENCES', '192.0.2.1:443,192.0.2.1:65536'],
  ['METRICS', 'yes'],
  ['METRICS', 'on'],
  ['METRICS_PORT', '0'],
  ['POWERDNS_PORT', '0'],
  ['POWERDNS_PORT', '65536'],
  ['METRICS_PORT', '65536'],
  ['METRICS_TOKEN', 'short'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector/?key=secret'],
  ['ADMIN_USERNAME', 'ada'],
  ['ADMIN_PASSWORD', 'correct-horse-battery-9'],
];

describe('configuration', () => {
  it('has a default for everything', () => {
    assert.deepEqual(parseConfig({}), {
      port: 3000,
      host: '0.0.0.0',
      powerdnsPort: null,
      dns: { host: null, port: null },
      corsOrigins: [],
      baseUrl: null,
      basePath: '',
      dataDir: resolve('data'),
      database: null,
      databaseTimeoutMs: 30_000,
      redisUrl: null,
      secretKeys: [],
      setupCode: null,
      admin: null,
      trustedProxies: [],
      outboundAllow: [],
      outboundDeny: [],
      logLevel: 'info',
      providerTimeoutMs: 10_000,
      requestDeadlineMs: 50_000,
      unclearAfterMs: 60_000,
      zoneFiles: { root: resolve('data/zones'), reloadCommand: null },
      backup: { everyHours: 0, keep: 7 },
      checkers: [],
      checkerSecret: null,
      checkReferences: [],
      slowMs: 2000,
      drainMs: 5000,
      misspelt: [],
      metrics: { on: false, port: null, token: null },
      traces: null,
      expiry: {
        lookups: true,
        bootstrapUrl: 'https://data.iana.org/rdap/dns.json',
        rdapServers: {},
        whoisServers: {},
      },
    });
  });

  for (const [name, text, expected] of GOOD) {
    it(`takes ${name}=${JSON.stringify(text)}`, () => {
      assert.deepEqual(parseConfig({ [name]: text }), { ...parseConfig({}), ...(expected as object) });
    });
  }

  for (const [name, text] of WRONG) {
    it(`refuses ${name}=${JSON.stringify(text)} by name`, () => {
      assert.throws(
        () => parseConfig({ [name]: text }),
        (error) => error instanceof ConfigError && error.message.includes(name),
      );
    });
  }

  for (const name of ['TRUSTED_PROXIES', 'OUTBOUND_ALLOW', 'OUTBOUND_DENY'] as const) {
    it(`takes addresses and networks of both families in ${name}`, () => {
      const key = { TRUSTED_PROXIES: 'trustedProxies', OUTBOUND_ALLOW: 'outboundAllow', OUTBOUND_DENY: 'outboundDeny' };
      const config = parseConfig({ [name]: '10.0.0.0/8, 192.0.2.7,fd00::/8,' });
      const nets = config[key[name] as 'trustedProxies'].map(([net, bits]) => `${net}/${bits}`);
      assert.deepEqual(nets, ['10.0.0.0/8', '192.0.2.7/32', 'fd00::/8']);
    });
  }

  it('takes the administrator as a pair and keeps the password as it is', () => {
    const { admin } = parseConfig({ ADMIN_USERNAME: ' ada ', ADMIN_PASSWORD: ' with blanks ' });
    assert.deepEqual(admin, { username: 'ada', password: ' with blanks ' });
  });

  it('names all wrong variables at once, and repeats no password', () => {
    const env = { PORT: 'x', LOG_LEVEL: 'y', DATABASE_URL: 'oracle://ada:s3cr3t@db/x', SECRET_KEY: 's3cr3t' };
    assert.throws(
      () => parseConfig(env),
      ({ message }: Error) =>
        /PORT.*\n.*DATABASE_URL.*\n.*SECRET_KEY.*\n.*LOG_LEVEL/.test(message) && !/s3cr3t/.test(message),
    );
  });
});

describe('DATABASE_URL', () => {
  const server = { host: 'db', database: 'dns', user: 'ada', password: 'p@ss/wörd', ssl: false };
  const login = `ada:${encodeURIComponent('p@ss/wörd')}@db`;
  const FORMS: [string, object][] = [
    ['sqlite:dns.db', { type: 'sqlite', path: '/data/dns.db' }],
    ['sqlite:/srv/dns.db', { type: 'sqlite', path: '/srv/dns.db' }],
    ['sqlite:///srv/dns.db', { type: 'sqlite', path: '/srv/dns.db' }],
    [`postgres://${login}/dns`, { type: 'postgresql', port: 5432, ...server }],
    [`postgresql://${login}:6000/dns?sslmode=disable`, { type: 'postgresql', ...server, port: 6000 }],
    [`postgres://${login}/dns?sslmode=require`, { type: 'postgresql', port: 5432, ...server, ssl: true }],
    [`mysql://${login}/dns`, { type: 'mysql', port: 3306, ...server }],
    [`postgres://${login}/dns?prepared=false`, { type: 'postgresql', port: 5432, ...server, prepared: false }],
    [`mariadb://${login}:3307/dns?ssl=true`, { type: 'mysql', ...server, port: 3307, ssl: true }],
    [
      `mysql://[::1]/dns?ssl=false`,
      { type: 'mysql', host: '::1', port: 3306, database: 'dns', user: '', password: '', ssl: false },
    ],
  ];
  for (const [url, choice] of FORMS) {
    it(`reads ${url}`, () => assert.deepEqual(parseDatabaseUrl(url, '/data'), choice));
  }
});

describe('.env', () => {
  const afterTest = atEndOfTest();
  it('adds what the environment does not set', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-env-'));
    afterTest(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, '.env'), '# a comment\nZONEWARD_A="from file"\nZONEWARD_B=from file\n');
    process.env.ZONEWARD_B = 'from environment';
    afterTest(() => delete process.env.ZONEWARD_B);
    const env = readEnvironment(folder);
    assert.equal(env.ZONEWARD_A, 'from file');
    assert.equal(env.ZONEWARD_B, 'from environment');
    assert.equal(readEnvironment(join(folder, 'nowhere')).ZONEWARD_A, undefined);
  });

  it('is named when it cannot be read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-env-'));
    afterTest(() => rmSync(folder, { recursive: true }));
    const file = join(folder, '.env');
    mkdirSync(file);
    const named = (error: unknown) =>
      error instanceof ConfigError && error.message.startsWith(`${file} cannot be read`);
    assert.throws(() => readEnvironment(folder), named);
  });
});

describe('database.json', () => {
  const afterTest = atEndOfTest();
  it('is taken as it was written, or refused by its name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zoneward-choice-'));
    afterTest(() => rmSync(folder, { recursive: true }));
    assert.equal(readChoice(folder), null);
    const choice = { type: 'sqlite', path: '/data/zoneward.db' } as const;
    writeChoice(folder, choice);
    assert.deepEqual(readChoice(folder), choice);
    for (const text of ['', '{"type":"sqli', 'null', '[]', '{"type":"oracle"}']) {
      writeFileSync(join(folder, 'database.json'), text);
      const said = `${folder}/database.json, which says where the database is, cannot be understood`;
      assert.throws(() => readChoice(folder), { message: new RegExp(`^${said}; .*DATABASE_URL$`) }, text);
    }
  });
});

it('names variables that look as if one of ours was meant', () => {
  const env = {
    DATABSE_URL: 'sqlite:a.db',
    DATABASE_URLS: '',
    OUTBOUND_ALOW: '',
    METRICS: 'off',
    HOST: '::',
    HOSTNAME: 'a',
    PATH: '',
  };
  const { misspelt } = parseConfig(env);
  assert.deepEqual(misspelt, [
    { name: 'DATABSE_URL', meant: 'DATABASE_URL' },
    { name: 'DATABASE_URLS', meant: 'DATABASE_URL' },
    { name: 'OUTBOUND_ALOW', meant: 'OUTBOUND_ALLOW' },
  ]);
  // what many machines have
  const common =
    'HOME USER SHELL LANG TERM PWD OLDPWD LOGNAME NODE_ENV NODE_OPTIONS HTTP_PROXY HTTPS_PROXY NO_PROXY TZ';
  assert.deepEqual(parseConfig(Object.fromEntries(common.split(' ').map((name) => [name, '']))).misspelt, []);
});
