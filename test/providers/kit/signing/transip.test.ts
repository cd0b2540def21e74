import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, it } from '@jest/globals';
import { privateKeyOf, signTransip } from '../../../../src/providers/kit/signing/transip.js';

// there are no published vectors: what is checked is what TransIP does with the public key
describe('signatures of TransIP', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const body = '{"login":"ada","nonce":"ba049c94446b46ffad564720bdee20ee"}';
  const right = (signature: string, text = body) =>
    verify('RSA-SHA512', Buffer.from(text), publicKey, Buffer.from(signature, 'base64'));

  it('are of the bytes of the body', () => {
    for (const type of ['pkcs8', 'pkcs1'] as const) {
      const pem = privateKey.export({ type, format: 'pem' }).toString();
      for (const form of [pem, pem.replace(/\n/g, ' '), `\n  ${pem.replace(/\n/g, '\r\n')}`]) {
        const signature = signTransip(body, privateKeyOf(form));
        assert.ok(right(signature));
        assert.ok(!right(signature, `${body} `));
      }
    }
  });

  it('are not made with what is no key', () => {
    for (const text of ['', 'secret', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----']) {
      assert.throws(() => privateKeyOf(text));
    }
  });
});
