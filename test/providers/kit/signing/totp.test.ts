import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { totpOf } from '../../../../src/providers/kit/signing/totp.js';

describe('one-time codes', () => {
  // RFC 6238, appendix B, the last six digits of the codes by SHA-1
  it('are those of the RFC', () => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    for (const [seconds, code] of [
      [59, '287082'],
      [1111111109, '081804'],
      [1111111111, '050471'],
      [1234567890, '005924'],
      [2000000000, '279037'],
      [20000000000, '353130'],
    ] as const) {
      assert.equal(totpOf(secret, seconds * 1000), code);
      assert.equal(totpOf(`${secret.toLowerCase().replace(/(.{4})/g, '$1 ')}=`, seconds * 1000), code);
    }
  });
});
