import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const HASH_BYTES = 32;

describe('the loader of the bundle', () => {
  let folder: string;
  const run = (args: string[]) => {
    const { PATH = '' } = process.env;
    const options = { cwd: folder, env: { PATH }, encoding: 'utf8' as const };
    const { status, signal, stderr } = spawnSync(process.execPath, args, options);
    return { end: status ?? signal, stderr };
  };
  const loader = (words: string) => run(['dist/zoneward.cjs', ...words.split(' ')]);
  const caches = () => readdirSync(join(folder, 'dist')).filter((name) => name.includes('.cache'));
  const read = () => readFileSync(join(folder, 'dist', caches()[0] as string));
  const damage = (bytes: Buffer) => writeFileSync(join(folder, 'dist', caches()[0] as string), bytes);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zoneward-loader-'));
    for (const file of ['package.json', 'dist/zoneward.cjs', 'dist/bundle.cjs', 'dist/password-rater.js'])
      cpSync(join(ROOT, file), join(folder, file));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ignores a damaged or empty code cache, and replaces it', () => {
    assert.equal(loader('--write-code-cache').end, 0);
    const whole = read();
    assert.deepEqual(createHash('sha256').update(whole.subarray(0, -HASH_BYTES)).digest(), whole.subarray(-HASH_BYTES));
    // as after a power failure: V8 itself would crash
    damage(Buffer.concat([whole.subarray(0, 800_000), Buffer.alloc(400_000), whole.subarray(1_200_000)]));
    assert.equal(loader('admin help').end, 0);
    damage(Buffer.alloc(0));
    assert.equal(loader('admin help').end, 0);
    assert.equal(loader('--write-code-cache').end, 0);
    assert.ok(read().length > whole.length / 2);
    assert.equal(caches().length, 1, 'no partial file is left');
  });

  it('replaces a code cache that V8 rejects, and keeps one that it accepts', () => {
    const before = read();
    assert.equal(loader('--write-code-cache').end, 0);
    assert.deepEqual(read(), before);
    assert.equal(run(['--no-opt', 'dist/zoneward.cjs', '--write-code-cache']).end, 0);
    assert.notDeepEqual(read(), before);
  });

  it('starts nothing for an unknown argument', () => {
    for (const word of ['--help', 'amdin', '--write-code-cach']) {
      const { end, stderr } = loader(word);
      assert.deepEqual([end, /usage: node dist\/zoneward\.cjs/.test(stderr)], [2, true], word);
    }
    assert.ok(!existsSync(join(folder, 'data')));
  });

  it('names the versions of Node that it needs', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal(engines.node, '^20.19.0 || ^22.22.3 || >=24.15.0', 'change src/zoneward.cts, too');
    for (const [version, end] of Object.entries({
      '18.20.8': 2,
      '20.18.3': 2,
      '23.11.0': 2,
      '24.15.0': 0,
      '26.0.0': 0,
    })) {
      const set = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
      const load = `process.argv.splice(1, 0, ''); ${set}; require('./dist/zoneward.cjs')`;
      const ended = run(['-e', load, 'admin', 'help']);
      assert.equal(ended.end, end, `${version}: ${ended.stderr}`);
      if (end) assert.match(ended.stderr, /needs Node\.js 20\.19, 22\.22, 24\.15/);
    }
  });
});
