// Builds what is not built or older than its sources: the service, the console, and where it is asked for the clients.
// An image without sources runs as built.
//   node scripts/build-when-needed.mjs [clients]
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';

const PARTS = [
  {
    script: 'build:service',
    stamp: 'dist/.built',
    sources: ['src', 'package-lock.json', 'tsconfig.json', 'nest-cli.json', 'scripts/bundle.mjs'],
  },
  {
    script: 'build:console',
    stamp: 'web/dist/.built',
    sources: [
      'web/src',
      'web/public',
      'web/index.html',
      'web/vite.config.ts',
      'package-lock.json',
      'docs/openapi.json',
    ],
  },
];
if (process.argv.includes('clients'))
  PARTS.push({
    script: 'build:clients',
    stamp: 'packages/.built',
    sources: [
      ...['client', 'cli'].flatMap((name) =>
        ['src', 'scripts', 'package.json', 'tsconfig.json'].map((part) => `packages/${name}/${part}`),
      ),
      'packages/client/tsconfig.build.json',
      'scripts/api-types.mjs',
      'package-lock.json',
      'docs/openapi.json',
    ],
  });
const newest = (path) =>
  statSync(path).isDirectory()
    ? Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)))
    : statSync(path).mtimeMs;

for (const { script, stamp, sources } of PARTS) {
  if (!existsSync(sources[0])) continue;
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= Math.max(...sources.map(newest))) continue;
  process.stderr.write(`Building (${script}): there is no build, or a source file is newer\n`);
  const { status } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, '');
}
