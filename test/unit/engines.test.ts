import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const { satisfies, minVersion } = createRequire(__filename)('semver') as {
  satisfies(version: string, range: string): boolean;
  minVersion(range: string): { version: string };
};

interface Package {
  version: string;
  dev?: boolean;
  optional?: boolean;
  engines?: { node?: string };
}

const ROOT = process.cwd();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const said: string = JSON.parse(read('package.json')).engines.node;
const packages: Record<string, Package> = JSON.parse(read('package-lock.json')).packages;

/** Packages that want a later Node than the first that is promised, and why the service runs without them. */
const NOT_LOADED: Record<string, string> = {
  'node_modules/file-type': 'Nest loads it in its validator of uploaded files, which nothing here uses',
};

describe('the versions of Node that are promised', () => {
  const lowest = said.split('||').map((range) => minVersion(range).version);

  it('are the same in package.json, in the lock file and in README.md', () => {
    assert.equal(packages['']?.engines?.node, said);
    const words = lowest.map((version) => version.replace(/\.0$/, ''));
    assert.ok(read('README.md').includes(`Node.js ${words.slice(0, -1).join(', ')}, ${words.at(-1)} or later`));
  });

  it('are enough for all that the service is made of', () => {
    assert.equal(lowest.length, 3);
    const installed = Object.entries(packages).filter(([path, { dev }]) => path && !dev);
    assert.ok(installed.length > 100);
    const wanting = installed
      .filter(([, { engines }]) => engines?.node && !lowest.every((v) => satisfies(v, engines.node as string)))
      .map(([path]) => path);
    assert.deepEqual(wanting, Object.keys(NOT_LOADED));
  });

  it('hold for npm ci --engine-strict, tools included, but for the first, of which README.md says so', () => {
    const wanting = Object.entries(packages)
      .filter(([path, { optional }]) => path && !optional)
      .filter(([, { engines }]) => engines?.node && !lowest.slice(1).every((v) => satisfies(v, engines.node as string)))
      .map(([path]) => path);
    assert.deepEqual(wanting, []);
    assert.match(read('README.md'), /With `npm ci --engine-strict` take 22 or 24/);
  });

  it('are what the compiler knows: nothing later of the language or of Node gets through', () => {
    assert.equal(packages['node_modules/@types/node']?.version, lowest[0]);
    // of ES2024 the first one has what texts got
    assert.deepEqual(JSON.parse(read('tsconfig.json')).compilerOptions.lib, ['ES2023', 'ES2024.String']);
  });

  it('hold although a package wants more, since that one is never loaded', () => {
    const users = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /FileTypeValidator|ParseFilePipe|['"]file-type['"]/.test(read(join('src', file))));
    assert.deepEqual(users, []);
  });
});
