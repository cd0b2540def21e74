import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from '@jest/globals';
import { until } from '../support/until.js';

const SCRIPT = 'scripts/build-when-needed.mjs';
const FILES = [
  ...['src/main.ts', 'src/zones/zone.ts', 'ormconfig.ts', 'package-lock.json', 'scripts/bundle.mjs'],
  ...['scripts/licenses.mjs', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'web/src/main.tsx'],
  ...['web/public/logo.svg', 'web/index.html', 'web/vite.config.ts', 'web/scripts/compress.mjs', 'web/package.json'],
  'docs/openapi.json',
];
/** Stands in for npm: makes the results, lists its calls, and does what the file `during` says. */
const NPM = `#!/bin/sh
echo "$3" >> calls
if [ -e during ]; then . ./during; fi
mkdir -p dist web/dist
touch dist/bundle.cjs web/dist/index.html web/src/route-tree.gen.ts
`;

describe('what is built when it is needed', () => {
  let folder: string;
  let env: Record<string, string>;
  const at = (file: string) => join(folder, file);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text, { mode: 0o755 });
  };
  const calls = () => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trim().split('\n') : []);
  /** Runs it in another folder. @returns what it built */
  function built(): string[] {
    rmSync(at('calls'), { force: true });
    const { status, stderr } = spawnSync(process.execPath, [at(SCRIPT)], { cwd: tmpdir(), env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return calls();
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zoneward-build-'));
    for (const file of FILES) write(file, 'of a checkout');
    write('bin/npm', NPM);
    cpSync(join(import.meta.dirname, '../..', SCRIPT), at(SCRIPT));
    env = { PATH: `${at('bin')}:${process.env.PATH}` };
    assert.deepEqual(built(), ['build:service', 'build:console']);
    assert.deepEqual(built(), []);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is what a changed, older, newer or removed source belongs to, and what lacks its result', () => {
    write('src/main.ts', 'changed');
    assert.deepEqual(built(), ['build:service']);
    for (const date of ['2020-01-01', '2999-01-01']) {
      utimesSync(at('web/index.html'), new Date(date), new Date(date));
      assert.deepEqual(built(), ['build:console'], date);
      assert.deepEqual(built(), [], date);
    }
    rmSync(at('src/zones/zone.ts'));
    assert.deepEqual(built(), ['build:service']);
    rmSync(at('dist/bundle.cjs'));
    assert.deepEqual(built(), ['build:service']);
    assert.deepEqual(built(), []);
  });

  it('is built again after a source changed during the build', () => {
    write('src/main.ts', 'first');
    write('during', 'echo second > src/main.ts');
    assert.deepEqual(built(), ['build:service']);
    rmSync(at('during'));
    assert.deepEqual(built(), ['build:service']);
    assert.deepEqual(built(), []);
  });

  it('ends with the process that builds it', async () => {
    write('src/main.ts', 'changed');
    write('during', 'echo $$ > pid; sleep 300');
    const building = spawn(process.execPath, [at(SCRIPT)], { env, stdio: 'ignore' });
    const pid = () => (existsSync(at('pid')) ? Number(readFileSync(at('pid'), 'utf8')) : 0);
    await until('it builds', () => pid() > 0);
    building.kill('SIGTERM');
    assert.deepEqual(await once(building, 'exit'), [143, null]);
    await until('the build has ended', () => !existsSync(`/proc/${pid()}`) || isDefunct(pid()));
  });
});

const isDefunct = (pid: number): boolean => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
