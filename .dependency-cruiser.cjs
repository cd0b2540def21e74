// The rooms of src/ from the ground up: each imports from rooms before it only. A folder in a room may be a room of its
// own.
const ROOMS = require('./rooms.json');

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
      comment: 'each kind by itself; what they share is in kit/',
      severity: 'error',
      from: { path: '^src/providers/(?!kit/)([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: '^src/providers/($1|kit)/' },
    },
    {
      name: 'only-the-registry-knows-the-kinds',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/providers/((?!kit/)[^/]+/|registry\\.ts$)' },
      to: { path: '^src/providers/[^/]+/', pathNot: '^src/providers/kit/' },
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
