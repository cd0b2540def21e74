import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { ProviderError } from '../../../src/providers/kit/http/errors.js';
import { cachedToken } from '../../../src/providers/kit/http/token-cache.js';

/** Answers tokens `t1`, `t2` … that are good for so many seconds. */
function tokens(seconds: number) {
  let fetched = 0;
  return cachedToken(async () => ({ token: `t${++fetched}`, seconds }));
}

describe('a token that is kept', () => {
  it('is fetched once for all calls that ask meanwhile, and for those after them', async () => {
    const token = tokens(3600);
    assert.deepEqual(await Promise.all([token.get(), token.get(), token.get()]), ['t1', 't1', 't1']);
    assert.equal(await token.get(), 't1');
  });

  it('is fetched anew when it has expired, or was refused', async () => {
    const expired = tokens(0);
    assert.deepEqual([await expired.get(), await expired.get()], ['t1', 't2']);
    const refused = tokens(3600);
    await refused.get();
    refused.forget();
    assert.equal(await refused.get(), 't2');
  });

  it('is fetched again in its last minute, and not before', async () => {
    const real = Date.now;
    const begun = real();
    try {
      const token = tokens(3600);
      await token.get();
      Date.now = () => begun + 3_530_000;
      assert.equal(await token.get(), 't1');
      Date.now = () => begun + 3_545_000;
      assert.equal(await token.get(), 't2');
    } finally {
      Date.now = real;
    }
  });

  it('is not kept when fetching it failed, and says that nothing was changed', async () => {
    let calls = 0;
    const token = cachedToken(async () => {
      if (++calls === 1) throw new ProviderError('unavailable', 'no token');
      return { token: 'good', seconds: 60 };
    });
    const fails = { message: 'no token', mayHaveApplied: false };
    await Promise.all([assert.rejects(token.get(), fails), assert.rejects(token.get(), fails)]);
    assert.equal(await token.get(), 'good');
  });
});
