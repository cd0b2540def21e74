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

describe('fields of rdata', () => {
  const own = typedFields();
  const others = typedFields({ names: { target: 'data', value: 'data', tag: 'tag' }, dots: true });

  for (const [type, value, priority, fields] of [
    ['MX', 'mx.example.net', 10, { priority: 10, target: 'mx.example.net' }],
    ['SRV', '5 5060 sip.example.net', 1, { priority: 1, weight: 5, port: 5060, target: 'sip.example.net' }],
    ['CAA', '0 issue "ca.example; a=\\"b\\""', null, { flags: 0, tag: 'issue', value: 'ca.example; a="b"' }],
    ['URI', '10 1 "https://example.net/"', null, { priority: 10, weight: 1, target: 'https://example.net/' }],
    ['HTTPS', '1 . alpn=h3,h2 port=443', null, { priority: 1, target: '.', value: 'alpn=h3,h2 port=443' }],
    ['SVCB', '0 svc.example.net', null, { priority: 0, target: 'svc.example.net', value: '' }],
    ['TLSA', '3 1 1 abcd', null, { usage: 3, selector: 1, matching_type: 1, certificate: 'abcd' }],
    ['SSHFP', '4 2 abcd', null, { algorithm: 4, type: 2, fingerprint: 'abcd' }],
    ['DS', '1 13 2 abcd', null, { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'abcd' }],
    [
      'NAPTR',
      '100 50 "s" "SIP+D2U" "" _sip._udp.example.net',
      null,
      { order: 100, preference: 50, flags: 's', service: 'SIP+D2U', regexp: '', replacement: '_sip._udp.example.net' },
    ],
  ] as const) {
    it(`of ${type} are taken apart and put together`, () => {
      assert.deepEqual(own.of({ type, value, priority }), fields);
      const rdata = own.rdata(type, { ...fields, id: 7 });
      assert.equal(rdata, priority === null ? value : `${priority} ${value}`);
      assert.equal(own.rdata(type, { ...fields, [Object.keys(fields)[0] as string]: null }), null);
    });
  }

  it('take the names that the vendor has, and its final dots', () => {
    const srv = { type: 'SRV', value: '5 5060 sip.example.net', priority: 1 };
    assert.deepEqual(others.of(srv), { priority: 1, weight: 5, port: 5060, data: 'sip.example.net.' });
    assert.deepEqual(others.of({ ...srv, value: '0 0 .' }), { priority: 1, weight: 0, port: 0, data: '.' });
    assert.equal(others.rdata('SRV', { priority: 1, weight: 5, port: 5060, data: 'a.example' }), '1 5 5060 a.example');
    assert.deepEqual(others.of({ type: 'CAA', value: '0 issue "ca.example"', priority: null }), {
      flags: 0,
      tag: 'issue',
      data: 'ca.example',
    });
  });

  it('are none of types that are one value', () => {
    assert.equal(own.of({ type: 'A', value: '192.0.2.1', priority: null }), null);
    assert.equal(own.rdata('A', { value: '192.0.2.1' }), null);
  });
});
