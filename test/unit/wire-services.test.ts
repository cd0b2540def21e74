import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from '@jest/globals';
import { rdataToText, rdataToWire } from '../../src/dns/wire-rdata.js';
import { missing } from '../support/bind.js';
import { linesOf } from '../support/dig.js';
import { describeUnless } from '../support/suites.js';

const FOO_COM = '03666f6f076578616d706c6503636f6d00';
const FOO_ORG = '03666f6f076578616d706c65036f726700';
const read = (type: string, hex: string) => rdataToText(type, Buffer.from(hex, 'hex'), 0, hex.length / 2);

/** RFC 9460 appendix D: rdata as it is given, its wire form, and what is shown of it. */
const VECTORS: [type: string, text: string, hex: string, shown?: string][] = [
  ['HTTPS', '0 foo.example.com.', `0000${FOO_COM}`],
  ['SVCB', '1 .', '000100'],
  ['SVCB', '16 foo.example.com. port=53', `0010${FOO_COM}000300020035`],
  ['SVCB', '1 foo.example.com. key667=hello', `0001${FOO_COM}029b000568656c6c6f`],
  ['SVCB', '1 foo.example.com. key667="hello\\210qoo"', `0001${FOO_COM}029b000968656c6c6fd2716f6f`],
  [
    ...(['SVCB', '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"'] as const),
    `0001${FOO_COM}0006002020010db800000000000000000000000120010db8000000000000000000530001`,
    '1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1',
  ],
  [
    ...(['SVCB', '1 example.com. ipv6hint="2001:db8:122:344::192.0.2.33"'] as const),
    '0001076578616d706c6503636f6d000006001020010db80122034400000000c0000221',
    '1 example.com. ipv6hint=2001:db8:122:344::c000:221',
  ],
  [
    ...(['SVCB', '16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1'] as const),
    `0010${FOO_ORG}0000000400010004000100090268320568332d313900040004c0000201`,
    '16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1',
  ],
  ['SVCB', '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"', `0010${FOO_ORG}0001000c08665c6f6f2c626172026832`],
  [
    ...([
      'SVCB',
      '16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2',
      `0010${FOO_ORG}0001000c08665c6f6f2c626172026832`,
    ] as const),
    '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
  ],
  // RFC 9461, RFC 9540 and base64
  [
    ...(['HTTPS', '1 . alpn=h2 dohpath=/dns-query{?dns} ohttp'] as const),
    '00010000010003026832000700102f646e732d71756572797b3f646e737d00080000',
    '1 . alpn=h2 key7=/dns-query{?dns} key8',
  ],
  ['HTTPS', '1 . ech=AAECAw==', '0001000005000400010203'],
  ['HTTPS', '1 . alpn=h2 no-default-alpn', '0001000001000302683200020000'],
  // by their numbers, too, with their octets
  ['HTTPS', '1 . KEY9=x key1=\\002h2', '000100000100030268320009000178', '1 . alpn=h2 key9=x'],
];

/** A location as it is given, its wire form, and what is shown of it (RFC 1876), as dnspython and BIND have it. */
const LOCATIONS: [text: string, hex: string, shown: string][] = [
  [
    '42 21 54 N 71 06 18 W -24m 30m',
    '0033161389172dd070be15f000988d20',
    '42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m',
  ],
  [
    '52 22 23.001 N 4 53 32 E -2m 1.5m 12345m 0.07m',
    '001216708b3cf019810cbce0009895b8',
    '52 22 23.001 N 4 53 32.000 E -2.00m 1.00m 10000.00m 0.07m',
  ],
  [
    '90 S 180 W 42849672.95m 90000000m 0m',
    '009900136cb0270059604e00ffffffff',
    '90 0 0.000 S 180 0 0.000 W 42849672.95m 90000000.00m 0.00m 10.00m',
  ],
];

describe('the data of services', () => {
  for (const [type, text, hex, shown = text] of VECTORS)
    it(`${type} ${text} is written and read as RFC 9460 has it`, () => {
      assert.equal(rdataToWire(type, text).toString('hex'), hex);
      assert.equal(read(type, hex), shown);
      assert.equal(rdataToWire(type, shown).toString('hex'), hex);
    });

  it('has no parameter twice, without its value, with one that it cannot have, or without one that it needs', () => {
    for (const params of [
      ...['key123=abc key123=def', 'mandatory', 'alpn', 'port', 'ipv4hint', 'ipv6hint', 'no-default-alpn=abc'],
      ...['mandatory=key123', 'mandatory=mandatory', 'mandatory=key123,key123 key123=abc', 'no-default-alpn'],
      ...[
        'port=65536',
        'port=x',
        'ipv4hint=192.0.2',
        'ipv4hint=2001:db8::1',
        'ipv6hint=fe80::1%lo',
        'ech=A',
        'ech=A*==',
      ],
      ...[
        'alpn=h2,,h3',
        'alpn=h2\\\\',
        `alpn=${'x'.repeat(256)}`,
        'nobody=1',
        'key65535=1',
        'key01=1',
        '=1',
        '"port=1"',
      ],
      ...['key3=1', 'key65536'],
    ])
      assert.throws(() => rdataToWire('SVCB', `1 . ${params}`), RangeError, params);
    assert.throws(() => rdataToWire('HTTPS', '1'), RangeError);
  });

  it('is not read where it is malformed', () => {
    for (const hex of [
      ...['', '0001', '000100ff', '0001000003', '000100000300', '00010000030002', '0001000003000200'],
      // not in their order, one of them twice
      ...['00010000040004c0000201000300020035', '000100000300020035000300020035'],
      // a list without a member, with half of one, one that names itself, what is not there, or names out of order
      ...['00010000000000', '0001000000000100', '000100000000020000', '000100000000020001'],
      ...['00010000000004000400010001000302683200040004c0000201'],
      ...['00010000010000', '0001000001000100', '00010000010003036832', '0001000002000100'],
      ...['00010000040003c00002', '00010000040000', '0001000006000f20010db8000000000000000000000000'],
      ...['00010000020000', '00010000ffff0000'],
    ])
      assert.throws(() => read('HTTPS', hex), RangeError, hex);
  });
});

describe('locations', () => {
  for (const [text, hex, shown] of LOCATIONS)
    it(`${text} keeps what LOC can hold`, () => {
      assert.equal(rdataToWire('LOC', text).toString('hex'), hex);
      assert.equal(read('LOC', hex), shown);
      assert.equal(rdataToWire('LOC', shown).toString('hex'), hex);
    });

  it('are not written or read where a number is none of a location', () => {
    for (const text of [
      ...[
        '91 N 0 E 0',
        '90 0 0.001 N 0 E 0',
        '0 60 N 0 E 0',
        '0 N 181 E 0',
        '0 N 0 E',
        '0 E 0 N 0',
        '0 N 0 E -100000.01',
      ],
      ...['0 N 0 E 42849672.96', '0 N 0 E 0 100000000m', '0 N 0 E 1.2.3', '0 N 0 E 0 1 1 1 1', ''],
    ])
      assert.throws(() => rdataToWire('LOC', text), RangeError, text);
    const good = '0033161389172dd070be15f000988d20';
    assert.ok(read('LOC', good));
    for (const hex of [
      `01${good.slice(2)}`,
      `00a3${good.slice(4)}`,
      `003a${good.slice(4)}`,
      good.slice(2),
      `${good}00`,
    ])
      assert.throws(() => read('LOC', hex), RangeError, hex);
    assert.throws(() => read('LOC', `00331613ffffffff${good.slice(16)}`), RangeError);
  });
});

describeUnless(missing('named-checkzone'))('BIND', () => {
  it('reads what is written as what was meant', () => {
    const texts = [
      ...VECTORS.map(([type, text]) => ({ type, text })),
      ...LOCATIONS.map(([text]) => ({ type: 'LOC', text })),
      { type: 'CSYNC', text: '1 3 A NS AAAA CAA TYPE65280' },
    ];
    const wires = texts.map(({ type, text }) => rdataToWire(type, text));
    const lines = texts.map(({ type }, i) => `r${i} ${type} \\# ${wires[i]?.length} ${wires[i]?.toString('hex')}`);
    const zone = ['$TTL 60', '@ SOA ns h 1 2 3 4 5', '@ NS ns', 'ns A 192.0.2.1', ...lines, ''].join('\n');
    const args = ['-q', '-D', '-o', '-', 'example.com', '-'];
    const { stdout } = spawnSync('named-checkzone', args, { input: zone, encoding: 'utf8' });
    const told = linesOf(stdout);
    for (const [i, { type, text }] of texts.entries()) {
      const rdata = told.find(({ owner }) => owner === `r${i}.example.com.`)?.rdata ?? '';
      assert.deepEqual(rdataToWire(type, rdata), wires[i], `${text}: ${rdata}`);
    }
  });
});
