// The directions in which folders may import. `common` and `dns` know nobody; contexts stand on each other in one order.
const above = {
  common: [],
  config: ['common'],
  dns: ['common'],
  outbound: ['common'],
  providers: ['common', 'dns', 'outbound'],
  settings: ['common', 'config', 'database', 'audit'],
  notifications: ['common', 'config', 'database', 'audit', 'settings', 'outbound'],
  users: ['common', 'config', 'database', 'audit', 'settings'],
  security: ['common', 'config', 'database', 'audit', 'settings', 'notifications', 'users', 'outbound'],
  teams: ['common', 'database', 'audit', 'settings', 'dns', 'users', 'domains', 'security'],
  audit: ['common', 'database'],
  accounts: ['common', 'config', 'database', 'audit', 'outbound', 'providers', 'users', 'teams'],
  domains: ['common', 'config', 'database', 'audit', 'providers', 'dns', 'users', 'teams', 'accounts'],
  records: ['common', 'config', 'database', 'audit', 'settings', 'providers', 'dns', 'accounts', 'domains'],
  tokens: ['common', 'config', 'database', 'audit', 'settings', 'dns', 'users', 'accounts', 'domains'],
  auth: [
    'common',
    'config',
    'database',
    'audit',
    'settings',
    'notifications',
    'users',
    'security',
    'domains',
    'tokens',
  ],
  system: ['common', 'config', 'database', 'audit', 'settings', 'users', 'security'],
  init: ['common', 'config', 'database', 'audit', 'users', 'auth', 'outbound'],
};

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: 'src/(main|admin)\\.ts$' }, to: {} },
    ...Object.entries(above).map(([folder, allowed]) => ({
      name: `${folder}-imports`,
      severity: 'error',
      from: { path: `^src/${folder}/` },
      to: { path: '^src/', pathNot: `^src/(${[folder, ...allowed].join('|')})/` },
    })),
    {
      name: 'database-imports',
      comment: 'only the list of entities knows the contexts',
      severity: 'error',
      from: { path: '^src/database/', pathNot: '^src/database/entities\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(database|common|config)/' },
    },
    {
      name: 'entities-stay-home',
      comment:
        "a context talks to another's service; keys between tables need the other's entity in an entity file only",
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '(\\.entity|/entities)\\.ts$' },
      to: { path: '\\.entity\\.ts$', pathNot: '^src/($1|users|domains)/' },
    },
    {
      name: 'teams-stand-above',
      comment: 'teams ask domains who may grant; the way back is the key in an entity only',
      severity: 'error',
      from: { path: '^src/(accounts|domains)/' },
      to: { path: '^src/teams/', pathNot: '\\.entity\\.ts$' },
    },
    {
      name: 'providers-are-islands',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: '^src/providers/$1/' },
    },
    {
      name: 'dns-is-pure',
      severity: 'error',
      from: { path: '^src/dns/' },
      to: { path: 'node_modules/(@nestjs|typeorm|undici)' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
