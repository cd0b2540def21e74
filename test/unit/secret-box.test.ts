import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { loadKeys, secretBox } from '../../src/platform/config/secret-box.js';

const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
const box = secretBox([OLD]);

describe('secret box', () => {
  for (const text of ['', 'a', 'päss "wörd"\u0000\n', '😀'.repeat(5000)]) {
    it(`gives back ${text.length} characters`, () => {
      const sealed = box.encrypt(text, 'here');
      assert.match(sealed, /^v1\.[0-9a-f]{8}\.[\w-]+$/);
      assert.equal(box.decrypt(sealed, 'here'), text);
    });
  }

  it('seals the same text differently each time', () => {
    assert.notEqual(box.encrypt('same', 'here'), box.encrypt('same', 'here'));
  });

  it('refuses what was changed anywhere', () => {
    const sealed = box.encrypt('secret', 'here');
    const [version, id, data] = sealed.split('.') as [string, string, string];
    const bytes = Buffer.from(data, 'base64url');
    for (let i = 0; i < bytes.length; i++) {
      const bad = Buffer.from(bytes);
      bad[i] = (bad[i] as number) ^ 1;
      assert.throws(() => box.decrypt(`${version}.${id}.${bad.toString('base64url')}`, 'here'), `byte ${i}`);
    }
    for (let length = 0; length < bytes.length; length++) {
      const short = bytes.subarray(0, length).toString('base64url');
      assert.throws(() => box.decrypt(`${version}.${id}.${short}`, 'here'), `cut to ${length}`);
    }
    for (const text of ['', 'secret', `v2.${id}.${data}`, `v1.00000000.${data}`, `v1.${id}`]) {
      assert.throws(() => box.decrypt(text, 'here'), text);
    }
  });

  it('refuses a value that belongs elsewhere', () => {
    const sealed = box.encrypt('secret', 'dns_accounts.credentials');
    assert.throws(() => box.decrypt(sealed, 'settings.signing_secret'));
  });

  it('rotates: the first key encrypts, all decrypt, a key that is gone does not', () => {
    const old = box.encrypt('secret', 'here');
    const rotated = secretBox([NEW, OLD]);
    assert.equal(rotated.decrypt(old, 'here'), 'secret');
    const fresh = rotated.encrypt('secret', 'here');
    assert.equal(secretBox([NEW]).decrypt(fresh, 'here'), 'secret');
    assert.throws(() => secretBox([NEW]).decrypt(old, 'here'), /not in SECRET_KEY/);
  });
});

describe('key file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-key-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is made once, private, and read again', () => {
    const data = join(folder, 'data');
    const keys = loadKeys([], data);
    assert.match(keys.join(), /^[0-9a-f]{64}$/);
    assert.deepEqual(loadKeys([], data), keys);
    assert.equal(statSync(join(data, 'secret.key')).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(data), ['secret.key']);
    assert.equal(readFileSync(join(data, 'secret.key'), 'utf8').trim(), keys[0]);
  });

  it('is not made, nor read, when SECRET_KEY is set', () => {
    assert.deepEqual(loadKeys([NEW], join(folder, 'none')), [NEW]);
    assert.throws(() => statSync(join(folder, 'none')));
  });

  it('is never silently replaced when it is empty', () => {
    const data = join(folder, 'empty');
    mkdirSync(data);
    writeFileSync(join(data, 'secret.key'), '\n');
    assert.throws(() => loadKeys([], data), /empty/);
  });
});
