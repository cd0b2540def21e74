import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { ps256, rs256 } from '../../../../src/providers/kit/signing/rs256.js';

describe('RS256', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const token = rs256({ iss: 'a@example.com', iat: 1 }, privateKey, { kid: 'k1' });
  const [header, claims, signature] = token.split('.') as [string, string, string];
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());

  it('says what is claimed, and with which key', () => {
    assert.deepEqual(read(header), { alg: 'RS256', typ: 'JWT', kid: 'k1' });
    assert.deepEqual(read(claims), { iss: 'a@example.com', iat: 1 });
    assert.doesNotMatch(token, /[+/=]/);
  });

  it('signs header and claims as openssl reads it', () => {
    assert.ok(verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')));
    const folder = mkdtempSync(join(tmpdir(), 'rs256-'));
    try {
      const file = (name: string, data: string | Buffer) => {
        writeFileSync(join(folder, name), data);
        return join(folder, name);
      };
      const key = file('key.pem', publicKey.export({ type: 'spki', format: 'pem' }));
      const given = file('signature', Buffer.from(signature, 'base64url'));
      const signed = file('signed', `${header}.${claims}`);
      const answer = execFileSync('openssl', ['dgst', '-sha256', '-verify', key, '-signature', given, signed]);
      assert.match(answer.toString(), /Verified OK/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('PS256', () => {
  it('signs with a salt as long as the hash, another one each time', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const [one, other] = [ps256({ iat: 1 }, privateKey, { kid: 'k1' }), ps256({ iat: 1 }, privateKey, { kid: 'k1' })];
    assert.notEqual(one, other);
    const [header, claims, signature] = one.split('.') as [string, string, string];
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'PS256', typ: 'JWT', kid: 'k1' });
    for (const [saltLength, good] of [
      [32, true],
      [20, false],
    ] as const) {
      const key = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
      const given = Buffer.from(signature, 'base64url');
      assert.equal(verify('sha256', Buffer.from(`${header}.${claims}`), key, given), good);
    }
  });
});
