// Builds what is missing or was built from other sources: the service, the console, and on request the clients. Changes
// the current folder to the root of the repository.
//   node scripts/build-when-needed.mjs [clients]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Parts of the build: `stamp` stores the state of the sources, and `result` is one of the files that are built. */
const PARTS = [
  {
    name: 'the service',
    script: 'build:service',
    stamp: 'dist/.built',
    result: 'dist/bundle.cjs',
    sources: [
      ...['src', 'ormconfig.ts', 'package-lock.json', 'scripts/bundle.mjs', 'scripts/licenses.mjs'],
      ...['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'],
    ],
  },
  {
    name: 'the console',
    script: 'build:console',
    stamp: 'web/dist/.built',
    result: 'web/dist/index.html',
    sources: [
      ...['web/src', 'web/public', 'web/index.html', 'web/vite.config.ts', 'web/scripts', 'web/package.json'],
      ...['scripts/licenses.mjs', 'package-lock.json', 'docs/openapi.json'],
    ],
  },
];
if (process.argv.includes('clients'))
  PARTS.push({
    name: 'the client library and the command',
    script: 'build:clients',
    stamp: 'packages/.built',
    result: 'packages/cli/dist/zoneward.js',
    sources: [
      ...['client', 'cli'].flatMap((name) =>
        ['src', 'scripts', 'package.json', 'tsconfig.json'].map((part) => `packages/${name}/${part}`),
      ),
      ...['packages/client/tsconfig.build.json', 'scripts/api-types.mjs', 'scripts/licenses.mjs'],
      ...['package-lock.json', 'docs/openapi.json'],
    ],
  });

/** Files that a build generates among the sources. */
const GENERATED = /(^|\/)(route-tree\.gen|schema\.d)\.ts$/;

const filesIn = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`)
    : [path];

/** A hash over the names, sizes and times of the sources; undefined if there are none, as in an image. */
function stateOf({ sources }) {
  if (!existsSync(sources[0])) return;
  const lines = sources
    .flatMap(filesIn)
    .filter((file) => !GENERATED.test(file))
    .map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`);
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

const isBuilt = ({ stamp, result }, state) =>
  existsSync(result) && existsSync(stamp) && readFileSync(stamp, 'utf8') === state;

/** Runs a script of package.json in a process group, which ends with this process. @returns code and output */
function run(script) {
  return new Promise((resolve, reject) => {
    let child;
    const end = (signal, code) => {
      if (child?.pid) process.kill(-child.pid, signal);
      process.exit(code);
    };
    const handlers = { SIGINT: () => end('SIGINT', 130), SIGTERM: () => end('SIGTERM', 143) };
    for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
    child = spawn('npm', ['run', '--silent', script], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
      resolve({ code, output: Buffer.concat(output) });
    });
  });
}

process.chdir(dirname(import.meta.dirname));
// read before the build, so that a change during the build leads to another one
const states = new Map(PARTS.map((part) => [part, stateOf(part)]));
const old = PARTS.filter((part) => states.get(part) && !isBuilt(part, states.get(part)));
for (const [i, part] of old.entries()) {
  process.stderr.write(`Building ${part.name} (${i + 1} of ${old.length}) ...`);
  const begun = Date.now();
  const { code, output } = await run(part.script);
  process.stderr.write(` ${code === 0 ? `${Math.round((Date.now() - begun) / 1000)} s` : 'failed'}\n`);
  if (code !== 0) {
    process.stderr.write(output);
    process.exit(code ?? 1);
  }
  writeFileSync(part.stamp, states.get(part));
}
