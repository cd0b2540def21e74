import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { bceAuthorization, signBce } from '../../../../src/providers/kit/signing/bce.js';
import { describeUnless } from '../../../support/suites.js';
import { noVectors, requestOf, vectorsOf } from '../../../support/vectors.js';

describeUnless(noVectors)('signatures of Baidu Cloud', () => {
  const vectors = vectorsOf('baidu-bce-auth-v1');
  it('has all vectors', () => assert.equal(vectors.length, 4));

  for (const vector of vectors) {
    const { accessKeyId, secretAccessKey, timestamp } = vector.input as unknown as Record<string, string>;
    const key = { accessKeyId: `${accessKeyId}`, secretAccessKey: `${secretAccessKey}` };
    it(`${vector.input.method} ${vector.input.path}`, () => {
      const request = { ...requestOf(vector, []), headers: vector.input.headers };
      assert.equal(bceAuthorization(request, key, `${timestamp}`), vector.expect.Authorization);
      // one with a date is signed as the adapter does it, too
      if (!vector.input.headers['x-bce-date']) return;
      const signed = signBce(requestOf(vector, ['x-bce-date']), key, new Date(`${timestamp}`));
      assert.equal(signed.headers.authorization, vector.expect.Authorization);
    });
  }
});
