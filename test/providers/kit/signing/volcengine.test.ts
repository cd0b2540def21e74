import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { signVolcengine } from '../../../../src/providers/kit/signing/volcengine.js';
import { describeUnless } from '../../../support/suites.js';
import { noVectors, requestOf, vectorsOf } from '../../../support/vectors.js';

describeUnless(noVectors)('signatures of Volcengine', () => {
  const vectors = vectorsOf('volcengine-hmac-sha256');
  it('has all vectors', () => assert.equal(vectors.length, 2));

  for (const vector of vectors) {
    it(`${vector.input.method} ${JSON.stringify(vector.input.query)}`, () => {
      const { accessKeyId, secretKey, region, service, date } = vector.input as unknown as Record<string, string>;
      const key = {
        accessKeyId: `${accessKeyId}`,
        secretAccessKey: `${secretKey}`,
        region: `${region}`,
        service: `${service}`,
      };
      const request = requestOf(vector, ['x-date', 'x-content-sha256']);
      const signed = signVolcengine(request, key, new Date(`${date}`)).headers;
      assert.equal(signed.authorization, vector.expect.Authorization);
      assert.equal(signed['x-content-sha256'], vector.input.headers['X-Content-Sha256']);
    });
  }
});
