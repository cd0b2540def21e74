import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { canonicalQuery } from '../../../../src/providers/kit/signing/canonical.js';

describe('the canonical query of a signature', () => {
  it('orders parameters of the same name by their values, for every input order', () => {
    assert.equal(
      canonicalQuery([
        ['b', '1'],
        ['a', '2'],
        ['a', '1'],
      ]),
      'a=1&a=2&b=1',
    );
    assert.equal(
      canonicalQuery([
        ['a', '1'],
        ['a', '2'],
        ['b', '1'],
      ]),
      'a=1&a=2&b=1',
    );
  });
});
