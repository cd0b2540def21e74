/** The rooms of src/ from the ground up: each imports from rooms before it only. A folder in a room may be a room of its own. */
const ROOMS = [
  'common',
  'config',
  'events',
  'dns',
  'database',
  'outbound',
  'audit',
  'settings',
  'limits',
  'notifications',
  'providers',
  'users',
  'auth/sessions',
  'teams',
  'accounts',
  'domains',
  'tokens',
  'records',
  'auth/password',
  'auth/second-factor',
  'auth/passkeys',
  'auth/oauth',
  'auth/profile',
  'auth/login',
  'users/administration',
  'auth/guard',
  'system',
  'init',
  'http',
];

/** Where the files of a room are. */
function filesOf(room) {
  const inner = ROOMS.filter((other) => other.startsWith(`${room}/`)).map((other) => other.slice(room.length + 1));
  return `^src/${room}/${inner.length ? `(?!(${inner.join('|')})/)` : ''}`;
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: 'src/(main|admin)\\.ts$' }, to: {} },
    ...ROOMS.map((room, i) => ({
      name: `no-way-up-from-${room}`,
      severity: 'error',
      from: { path: filesOf(room) },
      to: { path: '^src/', pathNot: ROOMS.slice(0, i + 1).map(filesOf) },
    })),
    {
      name: 'no-file-without-a-room',
      comment: 'beside the rooms stand only the files that put them together',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: ROOMS.map(filesOf) },
    },
    {
      name: 'providers-are-islands',
      comment: 'each kind by itself; what several sign with is in signing/',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: '^src/providers/($1|signing)/' },
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
