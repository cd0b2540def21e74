import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { constellixToken } from '../../../../src/providers/kit/signing/constellix.js';

describe('the token of Constellix', () => {
  it('is the key, the HMAC of the time, and the time', () => {
    // a vector of octoDNS' tests
    assert.equal(constellixToken('api', 'test', 1234567890123), 'api:S5VaK5DN7gpfTGh1975BlT6xw7k=:1234567890123');
  });
});
