import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { signJdcloud2 } from '../../../../src/providers/kit/signing/jdcloud2.js';
import { describeUnless } from '../../../support/suites.js';
import { noVectors, requestOf, vectorsOf } from '../../../support/vectors.js';

describeUnless(noVectors)('signatures of JD Cloud', () => {
  const vectors = vectorsOf('jdcloud2-hmac-sha256');
  it('has all vectors', () => assert.equal(vectors.length, 2));

  for (const vector of vectors) {
    it(`${vector.input.method} ${vector.input.path}`, () => {
      const { accessKeyId, secretAccessKey, region, service } = vector.input as unknown as Record<string, string>;
      const { 'x-jdcloud-date': date = '', 'x-jdcloud-nonce': nonce } = vector.input.headers;
      const now = new Date(date.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'));
      const key = {
        accessKeyId: `${accessKeyId}`,
        secretAccessKey: `${secretAccessKey}`,
        region: `${region}`,
        service: `${service}`,
      };
      const signed = signJdcloud2(requestOf(vector, ['x-jdcloud-date', 'x-jdcloud-nonce']), key, now, nonce);
      assert.equal(signed.headers.authorization, vector.expect.Authorization);
    });
  }
});
