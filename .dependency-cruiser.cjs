// The map of the rooms of src/, `rooms.json`: what each of them may import. A folder in a room may be a room of its
// own.
const ROOMS = require('./rooms.json');

/** Where the files of a room are. */
function filesOf(room) {
  const inner = Object.keys(ROOMS).filter((other) => other.startsWith(`${room}/`));
  const names = inner.map((other) => other.slice(room.length + 1));
  return `^src/${room}/${names.length ? `(?!(${names.join('|')})/)` : ''}`;
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: 'src/(main|admin)\\.ts$' }, to: {} },
    ...Object.entries(ROOMS).map(([room, allowed]) => ({
      name: `not-on-the-map-of-${room}`,
      comment: 'rooms.json says what a room may import',
      severity: 'error',
      from: { path: filesOf(room) },
      to: { path: '^src/', pathNot: [room, ...allowed].map(filesOf) },
    })),
    {
      name: 'no-file-without-a-room',
      comment: 'beside the rooms stand only the files that put them together',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: Object.keys(ROOMS).map(filesOf) },
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
    {
      name: 'clients-know-the-service-by-its-description',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(src|web|test|scripts)/' },
    },
    { name: 'nothing-leans-on-the-clients', severity: 'error', from: { path: '^src/' }, to: { path: '^packages/' } },
    {
      name: 'the-client-needs-nothing',
      comment: 'it runs in browsers, and is installed without anything else',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: '^packages/client/src/' },
    },
    {
      name: 'only-the-mcp-server-knows-its-protocol',
      comment: 'all other commands start without reading it',
      severity: 'error',
      from: { path: '^packages/cli/src/', pathNot: '^packages/cli/src/mcp\\.ts$' },
      to: { path: 'node_modules/(@modelcontextprotocol|zod)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  },
};
