import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { test } from '@jest/globals';
import { parseConfig } from '../../src/platform/config/config.js';

const root = join(import.meta.dirname, '../..');
const example = readFileSync(join(root, '.env.example'), 'utf8');

test('.env.example lists exactly the variables that the configuration reads', () => {
  const asked = new Set<string>();
  // every variable that is looked at, whichever way
  const env = new Proxy<Record<string, undefined>>({}, { get: (_, name) => void asked.add(String(name)) });
  parseConfig(env);
  assert.deepEqual(Object.keys(parseEnv(example)).sort(), [...asked].sort());
});

test('.env.example shows the defaults', () => {
  assert.deepEqual(parseConfig(parseEnv(example)), parseConfig({}));
});

test('.env.example explains every variable in one line', () => {
  for (const block of example.trim().split('\n\n').slice(1)) assert.match(block, /^# .+\n[A-Z_]+=.*$/, block);
});
