// Builds what is not built or older than its sources: the service, the console, and where it is asked for the clients.
//   node scripts/build-when-needed.mjs [clients]
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';

const PARTS = [
  {
    name: 'the service',
    script: 'build:service',
    stamp: 'dist/.built',
    sources: [
      ...['src', 'ormconfig.ts', 'package-lock.json', 'scripts/bundle.mjs', 'scripts/licenses.mjs'],
      ...['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'],
    ],
  },
  {
    name: 'the console',
    script: 'build:console',
    stamp: 'web/dist/.built',
    sources: [
      'web/src',
      'web/public',
      'web/index.html',
      'web/vite.config.ts',
      'scripts/licenses.mjs',
      'package-lock.json',
      'docs/openapi.json',
    ],
  },
];
if (process.argv.includes('clients'))
  PARTS.push({
    name: 'the client library and the command',
    script: 'build:clients',
    stamp: 'packages/.built',
    sources: [
      ...['client', 'cli'].flatMap((name) =>
        ['src', 'scripts', 'package.json', 'tsconfig.json'].map((part) => `packages/${name}/${part}`),
      ),
      'packages/client/tsconfig.build.json',
      'scripts/api-types.mjs',
      'scripts/licenses.mjs',
      'package-lock.json',
      'docs/openapi.json',
    ],
  });
const newest = (path) =>
  statSync(path).isDirectory()
    ? Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)))
    : statSync(path).mtimeMs;

const isOld = ({ stamp, sources }) =>
  existsSync(sources[0]) && !(existsSync(stamp) && statSync(stamp).mtimeMs >= Math.max(...sources.map(newest)));

const old = PARTS.filter(isOld);
for (const [i, { name, script, stamp }] of old.entries()) {
  process.stderr.write(`Building ${name} (${i + 1} of ${old.length}) ...`);
  const begun = Date.now();
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', script], { encoding: 'utf8' });
  process.stderr.write(` ${status === 0 ? `${Math.round((Date.now() - begun) / 1000)} s` : 'failed'}\n`);
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    process.exit(status ?? 1);
  }
  writeFileSync(stamp, '');
}
