import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { typedFields } from '../../../src/providers/kit/values/rdata-fields.js';

describe('rdata of parts without quotes', () => {
  it('has them where a part is a text, also where some were there', () => {
    const read = (type: string, text: string) => typedFields().spaced(type, text);
    assert.equal(read('CAA', '0 issue ca.example.net; a=b'), '0 issue "ca.example.net; a=b"');
    assert.equal(read('CAA', '0 issue "ca.example.net"'), '0 issue "ca.example.net"');
    assert.equal(read('CAA', '0 issue'), '0 issue');
    assert.equal(read('NAPTR', '100 50 s SIP+D2U  _sip._udp.x'), '100 50 "s" "SIP+D2U" "" _sip._udp.x');
    for (const [type, text] of [
      ['MX', '10 mx.example.net'],
      ['A', '192.0.2.1'],
      ['X', 'a b'],
    ] as const)
      assert.equal(read(type, text), text);
  });
});
