import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { westToken } from '../../../../src/providers/kit/signing/west.js';

describe('the token of West.cn', () => {
  it('is the MD5 of user, password and time', () => {
    // `echo -n adaa-password1700000000000 | md5sum`
    const token = '398a28aebfcbdcad651bcdffcbda460c';
    assert.deepEqual(westToken('ada', 'a-password', 1700000000000), { username: 'ada', time: 1700000000000, token });
  });
});
