import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const SCRIPT = `
  import { createRequire } from 'node:module';
  import { passwordProblem } from './dist/src/users/passwords.js';
  const rules = { min_length: 12, min_score: 3 };
  const all = ['correct-horse-battery-9', 'password12345', 'xkqj-vbwz-ytpl', 'a'.repeat(128)];
  const problems = await Promise.all(all.map((one) => passwordProblem(one, ['xkqj-vbwz-ytpl', ''], rules)));
  const { cache } = createRequire(import.meta.url);
  console.log(JSON.stringify([problems.map(Boolean), Object.keys(cache).filter((file) => file.includes('zxcvbn'))]));
`;

describe('a password that is set', () => {
  it('is judged in a thread that holds the word lists, and that lets the process end', () => {
    const args = ['--input-type=module', '--eval', SCRIPT];
    const told = execFileSync(process.execPath, args, { cwd: join(__dirname, '../..'), encoding: 'utf8' });
    assert.deepEqual(JSON.parse(told), [[false, true, true, true], []]);
  });
});
