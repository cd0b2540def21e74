import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { databases, freshDatabase, type Kind } from '../support/databases.js';
import { ADMIN } from '../support/server.js';
import { itUnless } from '../support/suites.js';

const ROOT = process.cwd();
const { version, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const NAME = `zoneward-${version}`;
/** Build outputs, which a copy of the checkout must not have. */
const BUILT = ['dist', 'web/dist', 'packages/client/dist', 'packages/cli/dist', 'release'];
const FILES = [
  `${NAME}-image.tgz`,
  `${NAME}.cdx.json`,
  `${NAME}.tgz`,
  `zoneward-chart-${version}.tgz`,
  `zoneward-cli-${version}.tgz`,
  `zoneward-client-${version}.tgz`,
];

// not the temporary folder of the other suites, which may be in memory: the copy has all development dependencies
const folder = mkdtempSync('/tmp/zoneward-release-');
const release = join(folder, 'release');
const unpacked = join(folder, NAME);
const path = join(folder, 'bin');

/** Copies the checkout with its installed packages, as hard links where the file system allows them. */
function copyCheckout(to: string): void {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) cpSync(file, join(to, file), { force: true });
  for (const modules of [
    'node_modules',
    'web/node_modules',
    'packages/client/node_modules',
    'packages/cli/node_modules',
  ]) {
    const copied = spawnSync('cp', ['-al', modules, join(to, modules)]).status === 0;
    if (copied || !readdirSync(dirname(modules)).includes('node_modules')) continue;
    rmSync(join(to, modules), { recursive: true, force: true });
    execFileSync('cp', ['-a', modules, join(to, modules)]);
  }
  rmSync(join(to, 'node_modules/.cache'), { recursive: true, force: true });
}

/** Runs `npm run release` in a copy of the checkout, and moves its result. */
function build(checkout: string, to: string, umask: string, env: Record<string, string>): void {
  for (const output of BUILT) rmSync(join(checkout, output), { recursive: true, force: true });
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).trim();
  const options = { cwd: checkout, env: { ...process.env, SOURCE_DATE_EPOCH: time, ...env } };
  const { status, stderr } = spawnSync('sh', ['-c', `umask ${umask}; exec npm run --silent release`], options);
  assert.equal(status, 0, String(stderr));
  renameSync(join(checkout, 'release'), to);
}

const entries = (file: string) =>
  execFileSync('tar', ['tzf', join(release, file)], { encoding: 'utf8' })
    .trim()
    .split('\n');
const contentOf = (file: string, entry: string) =>
  execFileSync('tar', ['xzOf', join(release, file), entry], { encoding: 'utf8', maxBuffer: 2 ** 26 });

const hides = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
/** Runs a command with Node as the only program on PATH; as root also without the checkout. */
function start(command: string[], env: Record<string, string>): ChildProcess {
  const hidden = ['--mount', 'sh', '-ec', 'mount --make-rprivate /; mount -t tmpfs none "$0"; exec "$@"', ROOT];
  const [file = '', ...words] = hides ? ['unshare', ...hidden, 'env', `PATH=${path}`, ...command] : command;
  const PATH = hides ? '/usr/sbin:/usr/bin:/sbin:/bin' : path;
  return spawn(file, words, { cwd: unpacked, env: { PATH, HOST: '127.0.0.1', PORT: '0', DRAIN_MS: '0', ...env } });
}

/** The address of a started service. */
async function addressOf(child: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
        const [, port] = /"port":(\d+),[^\n]*"msg":"listening"/.exec(output) ?? [];
        if (port) resolve(`http://127.0.0.1:${port}`);
      });
    child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
  });
}

beforeAll(() => {
  const first = join(folder, 'first');
  copyCheckout(first);
  build(first, release, '022', {});
  const second = join(folder, 'second/place');
  mkdirSync(dirname(second));
  renameSync(first, second);
  build(second, join(folder, 'again'), '077', { TZ: 'Asia/Tokyo', LANG: 'C.UTF-8' });
  execFileSync('tar', ['xzf', join(release, `${NAME}.tgz`), '-C', folder]);
  mkdirSync(path);
  symlinkSync(process.execPath, join(path, 'node'));
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run release', () => {
  it('writes the same bytes in another folder, time zone and umask', () => {
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
    assert.equal(readFileSync(join(folder, 'again/SHA256SUMS'), 'utf8'), sums);
    assert.deepEqual(readdirSync(release).sort(), ['SHA256SUMS', ...FILES].sort());
    const hash = (file: string) =>
      createHash('sha256')
        .update(readFileSync(join(release, file)))
        .digest('hex');
    assert.equal(sums, FILES.map((file) => `${hash(file)}  ${file}\n`).join(''));
  });

  it('sets owner root, world-readable modes and the commit time on every archived file', () => {
    for (const file of FILES.filter((name) => name.endsWith('.tgz'))) {
      const lines = execFileSync('tar', ['tvzf', join(release, file)], { encoding: 'utf8' })
        .trim()
        .split('\n');
      for (const line of lines) assert.match(line, /^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) (root\/root|0\/0) /, line);
    }
    const times = execFileSync('tar', ['tvzf', join(release, `${NAME}.tgz`), '--full-time'], { encoding: 'utf8' });
    assert.equal(new Set(times.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g)).size, 1);
  });

  it('archives the service without dependencies to install, source maps, code cache and paths of the checkout', () => {
    const files = entries(`${NAME}.tgz`);
    assert.deepEqual([...new Set(files.map((file) => file.split('/')[0]))], [NAME]);
    assert.deepEqual(
      files.filter((file) => /\.(map|cache|ts)$|\/\.vite\/|\/src\//.test(file)),
      [],
    );
    const about = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    assert.deepEqual([about.version, about.engines, about.dependencies], [version, engines, undefined]);
    assert.deepEqual(Object.keys(about.scripts), ['prestart', 'start', 'admin']);
    const paths = spawnSync('grep', ['-rlF', '-e', folder, '-e', ROOT, unpacked], { encoding: 'utf8' });
    assert.equal(paths.stdout, '');
  });

  it('lists in the bill of materials what the archive contains, with license and hash', () => {
    const bill = JSON.parse(readFileSync(join(release, `${NAME}.cdx.json`), 'utf8'));
    assert.deepEqual(
      [bill.bomFormat, bill.specVersion, bill.metadata.component.name],
      ['CycloneDX', '1.5', 'zoneward'],
    );
    const archive = createHash('sha256')
      .update(readFileSync(join(release, `${NAME}.tgz`)))
      .digest('hex');
    assert.deepEqual(bill.metadata.component.hashes, [{ alg: 'SHA-256', content: archive }]);
    for (const { name, purl, hashes, licenses } of bill.components) {
      assert.ok(purl.startsWith('pkg:npm/') && /^[0-9a-f]{128}$/.test(hashes[0].content), name);
      assert.ok(licenses[0].expression || licenses[0].license.id, name);
    }
    const names = new Set(bill.components.map(({ name }: { name: string }) => name));
    // the service needs no other dependency at run time
    const unused = Object.keys(dependencies).filter((name) => !names.has(name));
    assert.deepEqual(unused, ['dns-packet']);
    for (const name of ['react', '@mantine/core', '@photostructure/sqlite', 'node-gyp-build'])
      assert.ok(names.has(name), name);
    for (const name of ['jest', 'typescript', '@nestjs/cli', 'oidc-provider']) assert.ok(!names.has(name), name);
    const licenses = readFileSync(join(unpacked, 'LICENSES.txt'), 'utf8');
    for (const one of bill.components) assert.ok(licenses.includes(`${one.name} ${one.version} (`), one.name);
  });

  it('archives a context in which every file exists that the Dockerfile copies', () => {
    const file = `${NAME}-image.tgz`;
    const top = `${NAME}-image`;
    const image = contentOf(file, `${top}/Dockerfile`);
    assert.deepEqual(image.match(/^(FROM|COPY) .*/gm), ['FROM node:24-slim', 'COPY zoneward/ ./']);
    const inImage = entries(file).flatMap((entry) => entry.split(`${top}/zoneward/`)[1] ?? []);
    const inArchive = entries(`${NAME}.tgz`).flatMap((entry) => entry.split(`${NAME}/`)[1] ?? []);
    assert.deepEqual(inImage.sort(), inArchive.sort());
    assert.equal(contentOf(file, `${top}/compose.yaml`), readFileSync('deploy/compose.yaml', 'utf8'));
  });

  it('archives the chart in a folder of its name', () => {
    const chart = execFileSync('git', ['ls-files', 'deploy/helm/zoneward'], { encoding: 'utf8' }).trim().split('\n');
    const files = entries(`zoneward-chart-${version}.tgz`).filter((entry) => !entry.endsWith('/'));
    assert.deepEqual(files.sort(), chart.map((file) => file.slice('deploy/helm/'.length)).sort());
  });

  it('packs both npm packages with what they export, and nothing else', () => {
    const packed = (name: string) => entries(`zoneward-${name}-${version}.tgz`).sort();
    const about = ['package/LICENSE', 'package/README.md'];
    const built = (files: string[]) => files.map((file) => `package/dist/${file}`);
    const library = built(['index.d.ts', 'index.js', 'schema.d.ts']);
    assert.deepEqual(packed('client'), [...about, ...library, 'package/package.json'].sort());
    const command = built(['LICENSES.txt', 'mcp.js', 'plan-text.js', 'zoneward.js']);
    assert.deepEqual(packed('cli'), [...about, ...command, 'package/package.json'].sort());
    execFileSync('tar', ['xzf', join(release, `zoneward-cli-${version}.tgz`), '-C', folder]);
    const shown = execFileSync(join(folder, 'package/dist/zoneward.js'), ['--version'], { encoding: 'utf8' });
    assert.equal(shown.trim(), version);
  });
});

describe('the unpacked release, with Node alone', () => {
  let child: ChildProcess;
  let dataDir: string;
  afterEach(async () => {
    if (child?.exitCode === null && child.kill('SIGTERM')) await once(child, 'close');
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function serves(kind: Kind): Promise<void> {
    dataDir = mkdtempSync(join(folder, 'data-'));
    const database = kind === 'sqlite' ? undefined : await freshDatabase(kind);
    try {
      child = start(['node', 'dist/zoneward.cjs'], {
        DATA_DIR: dataDir,
        DATABASE_URL: database?.url ?? 'sqlite:zoneward.db',
        ADMIN_USERNAME: ADMIN.username,
        ADMIN_PASSWORD: ADMIN.password,
      });
      const url = await addressOf(child);
      const read = async (file: string, headers: Record<string, string> = {}) => {
        const response = await fetch(url + file, { headers: { accept: 'text/html', ...headers } });
        assert.equal(response.status, 200, file);
        return response.text();
      };
      const body = JSON.stringify(ADMIN);
      const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const { data } = (await (await fetch(`${url}/api/auth/login`, login)).json()) as { data: { token: string } };
      const status = JSON.parse(await read('/api/system/status', { authorization: `Bearer ${data.token}` })).data;
      assert.deepEqual([status.version, status.database.type], [version, kind]);
      const [, asset] = /src="\.?\/?(assets\/[\w.-]+\.js)"/.exec(await read('/')) ?? [];
      assert.ok((await read(`/${asset}`)).length > 1000);
      const docs = await read('/api/docs');
      const files = [...docs.matchAll(/(?:src|href)="\.?\/?((?:api\/)?docs\/[\w.-]+\.(?:js|css|png))"/g)];
      assert.ok(files.length >= 4, docs);
      for (const [, file] of files) await read(`/${file?.replace(/^docs/, 'api/docs')}`);
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'close'), [0, null]);
    } finally {
      await database?.drop();
    }
  }
  for (const { kind, skip } of databases('all'))
    itUnless(skip)(`serves the console, its assets and the API browser on ${kind}`, () => serves(kind));

  it('runs the tour', () => {
    const env = { PATH: process.env.PATH as string, TMPDIR: folder, TOUR_SERVICE: unpacked };
    const { status, stdout } = spawnSync(process.execPath, ['tour/tour.mjs'], { env, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /\n[1-9]\d* passed, 0 failed\n/);
  });

  it('stores a code cache that other users can read, even with umask 077', () => {
    const env = { PATH: path, TMPDIR: folder };
    execFileSync('/bin/sh', ['-c', 'umask 077; exec node dist/zoneward.cjs --write-code-cache'], {
      cwd: unpacked,
      env,
    });
    const [cache = ''] = readdirSync(join(unpacked, 'dist')).filter((file) => file.endsWith('.cache'));
    assert.ok(cache.includes(process.version));
    assert.equal(statSync(join(unpacked, 'dist', cache)).mode & 0o777, 0o644);
  });
});
