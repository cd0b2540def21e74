import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { signHuawei } from '../../../../src/providers/kit/signing/huawei.js';
import { describeUnless } from '../../../support/suites.js';
import { noVectors, requestOf, vectorsOf } from '../../../support/vectors.js';

describeUnless(noVectors)('signatures of Huawei Cloud', () => {
  const vectors = vectorsOf('huawei-sdk-hmac-sha256');
  it('has all vectors', () => assert.equal(vectors.length, 3));

  for (const vector of vectors) {
    it(`${vector.input.method} ${vector.input.path}`, () => {
      const date =
        Object.entries(vector.input.headers).find(([name]) => name.toLowerCase() === 'x-sdk-date')?.[1] ?? '';
      const now = new Date(date.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'));
      const key = { accessKeyId: String(vector.input.ak), secretAccessKey: String(vector.input.sk) };
      const { authorization = '' } = signHuawei(requestOf(vector, ['x-sdk-date']), key, now).headers;
      if (vector.expect.Authorization) assert.equal(authorization, vector.expect.Authorization);
      else assert.match(authorization, new RegExp(`, Signature=${vector.expect.Signature}$`));
    });
  }
});
