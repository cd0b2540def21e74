import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { absoluteRdata } from '../../../src/providers/kit/values/absolute-rdata.js';

describe('absoluteRdata', () => {
  for (const [type, rdata, absolute] of [
    ['CNAME', 'www', 'www.example.com.'],
    ['CNAME', 'a.example.net', 'a.example.net.example.com.'],
    ['CNAME', 'a.example.net.', 'a.example.net.'],
    ['NS', '@', 'example.com.'],
    ['MX', '10 mail', '10 mail.example.com.'],
    ['MX', '0 .', '0 .'],
    ['SRV', '1 2 3 sip', '1 2 3 sip.example.com.'],
    ['HTTPS', '1 . alpn=h2', '1 . alpn=h2'],
    ['HTTPS', '1 web  alpn=h2', '1 web.example.com. alpn=h2'],
    ['NAPTR', '1 2 "s" "a b" "" sip', '1 2 "s" "a b" "" sip.example.com.'],
    ['PTR', 'dot\\.', 'dot\\..example.com.'],
    ['TXT', '"www"', '"www"'],
    ['A', '192.0.2.1', '192.0.2.1'],
    ['MX', '10', '10'],
  ] as const) {
    it(`${type} ${rdata}`, () => assert.equal(absoluteRdata(type, rdata, 'example.com'), absolute));
  }
});
