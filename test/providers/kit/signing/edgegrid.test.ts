import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { Method } from '../../../../src/providers/kit/http/http-client.js';
import { signEdgegrid } from '../../../../src/providers/kit/signing/edgegrid.js';

const KEY = {
  clientToken: 'akab-client-token-xxx-xxxxxxxxxxxxxxxx',
  clientSecret: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=',
  accessToken: 'akab-access-token-xxx-xxxxxxxxxxxxxxxx',
};
const NOW = new Date('2014-03-21T19:34:21Z');
const NONCE = 'nonce-xx-xxxx-xxxx-xxxx-xxxxxxxxxxxx';
const HOST = 'https://akaa-baseurl-xxxxxxxxxxx-xxxxxxxxxxxxx.luna.akamaiapis.net';

describe('signatures of Akamai EdgeGrid', () => {
  // of the test suite of Akamai's own clients, which signs 2048 octets at most
  for (const [method, path, body, signature] of [
    ['GET', '/', undefined, 'tL+y4hxyHxgWVD30X3pWnGKHcPzmrIF+LThiAOhMxYU='],
    ['GET', '/testapi/v1/t1?p1=1&p2=2', undefined, 'hKDH1UlnQySSHjvIcZpDMbQHihTQ0XyVAKZaApabdeA='],
    ['POST', '/testapi/v1/t3', 'data'.repeat(8), 'hXm4iCxtpN22m4cbZb4lVLW5rhX8Ca82vCFqXzSTPe4='],
    ['POST', '/testapi/v1/t3', 'd'.repeat(2049), '6Q6PiTipLae6n4GsSIDTCJ54bEbHUBp+4MUXrbQCBoY='],
    ['POST', '/testapi/v1/t6', '', '1gEDxeQGD5GovIkJJGcBaKnZ+VaPtrc4qBUHixjsPCQ='],
    ['PUT', '/testapi/v1/t6', 'P'.repeat(31), 'GNBWEYSEWOLtu+7dD52da2C39aX/Jchpon3K/AmBqBU='],
  ] as const) {
    it(`are as published: ${method} ${path} of ${body?.length ?? 'no'} octets`, () => {
      const request = { method: method as Method, url: new URL(HOST + path), headers: {}, body };
      const { authorization } = signEdgegrid(request, KEY, NOW, NONCE, 2048).headers;
      const tokens = `client_token=${KEY.clientToken};access_token=${KEY.accessToken}`;
      const time = `timestamp=20140321T19:34:21+0000;nonce=${NONCE}`;
      assert.equal(authorization, `EG1-HMAC-SHA256 ${tokens};${time};signature=${signature}`);
    });
  }
});
