import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { fullName, hostName, relativeName, toUnicode, zoneName } from '../../src/dns/names.js';
import { dnsRecord, EXTRA_TYPES, fromRdata, MANAGED_TYPES, RECORD_TYPES, rdataOf } from '../../src/dns/record.js';
import { txtFromInput, txtFromPresentation, txtPresentation, txtShown, txtStrings } from '../../src/dns/text.js';

const ZONE = 'example.com';
const record = (type: string, value: string, priority?: number, host = 'www') =>
  dnsRecord({ host, type, value, ...(priority === undefined ? {} : { priority }) }, ZONE);
const fieldOf = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    return (error as { data?: { errors?: { path: string }[] } }).data?.errors?.[0]?.path ?? String(error);
  }
  return 'accepted';
};

/** What is given (value, perhaps priority), what the service makes of it, and its rdata. */
const CANONICAL: [type: string, given: [string, number?], canonical: [string, number | null], rdata: string][] = [
  ['A', [' 192.0.2.1 '], ['192.0.2.1', null], '192.0.2.1'],
  ['AAAA', ['2001:DB8:0:0:0:0:0:1'], ['2001:db8::1', null], '2001:db8::1'],
  ['AAAA', ['::FFFF:192.0.2.1'], ['::ffff:192.0.2.1', null], '::ffff:c000:201'],
  ['AAAA', ['::192.0.2.1'], ['::c000:201', null], '::c000:201'],
  ['AAAA', ['2001:db8:0:1:0:0:0:1'], ['2001:db8:0:1::1', null], '2001:db8:0:1::1'],
  ['CNAME', ['Target.Example.NET.'], ['target.example.net', null], 'target.example.net.'],
  ['CNAME', ['@'], ['example.com', null], 'example.com.'],
  ['CNAME', ['1.0/25.2.0.192.in-addr.arpa'], ['1.0/25.2.0.192.in-addr.arpa', null], '1.0/25.2.0.192.in-addr.arpa.'],
  ['CNAME', ['-a-.Example.net'], ['-a-.example.net', null], '-a-.example.net.'],
  ['CNAME', ['_x.bücher.example'], ['_x.xn--bcher-kva.example', null], '_x.xn--bcher-kva.example.'],
  ['MX', ['Mail.example.net', 5], ['mail.example.net', 5], '5 mail.example.net.'],
  ['MX', ['20 mail.example.net.'], ['mail.example.net', 20], '20 mail.example.net.'],
  ['MX', ['mail.example.net'], ['mail.example.net', 10], '10 mail.example.net.'],
  ['MX', ['0 .'], ['.', 0], '0 .'],
  ['MX', ['a_b.-c-.example.net', 1], ['a_b.-c-.example.net', 1], '1 a_b.-c-.example.net.'],
  ['TXT', ['v=spf1 -all'], ['v=spf1 -all', null], '"v=spf1 -all"'],
  ['TXT', ['"part one, " "part \\"two\\""'], ['part one, part "two"', null], '"part one, part \\"two\\""'],
  ['TXT', ['not "all" quoted'], ['not "all" quoted', null], '"not \\"all\\" quoted"'],
  ['NS', ['NS1.example.net.'], ['ns1.example.net', null], 'ns1.example.net.'],
  ['SRV', ['5  5060 SIP.example.net', 1], ['5 5060 sip.example.net', 1], '1 5 5060 sip.example.net.'],
  ['SRV', ['10 5 5060 sip.example.net.'], ['5 5060 sip.example.net', 10], '10 5 5060 sip.example.net.'],
  ['SRV', ['0 0 .'], ['0 0 .', 0], '0 0 0 .'],
  ['CAA', ['0 ISSUE letsencrypt.org'], ['0 issue "letsencrypt.org"', null], '0 issue "letsencrypt.org"'],
  ['CAA', ['128 issue "ca; a=\\"b\\""'], ['128 issue "ca; a=\\"b\\""', null], '128 issue "ca; a=\\"b\\""'],
  ['CAA', ['0 issue ""'], ['0 issue ""', null], '0 issue ""'],
  ['SVCB', ['1 Svc.example.net. port="8443"'], ['1 svc.example.net port=8443', null], '1 svc.example.net. port=8443'],
  ['HTTPS', ['1 .  alpn="h2,h3"'], ['1 . alpn=h2,h3', null], '1 . alpn=h2,h3'],
  ['TLSA', ['3 1 0 ABCD EF01'], ['3 1 0 abcdef01', null], '3 1 0 abcdef01'],
  ['SSHFP', ['4 3 ABCD'], ['4 3 abcd', null], '4 3 abcd'],
  [
    'NAPTR',
    ['100 50 s SIP+D2U "" _Sip._udp.example.net.'],
    ['100 50 "s" "SIP+D2U" "" _sip._udp.example.net', null],
    '100 50 "s" "SIP+D2U" "" _sip._udp.example.net.',
  ],
  ['NAPTR', ['1 1 "u" "" "!a\\\\.b!c!" .'], ['1 1 "u" "" "!a\\\\.b!c!" .', null], '1 1 "u" "" "!a\\\\.b!c!" .'],
  ['DS', ['12345 13 5 AB CD'], ['12345 13 5 abcd', null], '12345 13 5 abcd'],
  ['PTR', ['Host.example.net.'], ['host.example.net', null], 'host.example.net.'],
  ['ALIAS', ['LB.example.net'], ['lb.example.net', null], 'lb.example.net.'],
  [
    'LOC',
    ['52 22 23 n 4 e -2'],
    ['52 22 23.000 N 4 0 0.000 E -2.00m 1.00m 10000.00m 10.00m', null],
    '52 22 23.000 N 4 0 0.000 E -2.00m 1.00m 10000.00m 10.00m',
  ],
  [
    'URI',
    ['10 1 "https://x.example/a?b=c"'],
    ['10 1 "https://x.example/a?b=c"', null],
    '10 1 "https://x.example/a?b=c"',
  ],
  ['RP', ['Admin.example.net. .'], ['admin.example.net .', null], 'admin.example.net. .'],
  ['RP', ['@ txt.example.net'], ['example.com txt.example.net', null], 'example.com. txt.example.net.'],
  ['RP', ['A\\.B.example.net. .'], ['a\\.b.example.net .', null], 'a\\.b.example.net. .'],
  ['DHCID', ['AAIB Y2/A+B=='], ['AAIBY2/A+A==', null], 'AAIBY2/A+A=='],
  ['DNAME', ['Tree.example.net.'], ['tree.example.net', null], 'tree.example.net.'],
  ['DNSKEY', ['257 3  13 AwEA Acw='], ['257 3 13 AwEAAcw=', null], '257 3 13 AwEAAcw='],
  ['OPENPGPKEY', ['mDME XEcE\n6RY='], ['mDMEXEcE6RY=', null], 'mDMEXEcE6RY='],
  ['SMIMEA', ['3 1 0 ABCD EF01'], ['3 1 0 abcdef01', null], '3 1 0 abcdef01'],
];

const INVALID: [type: string, ...values: string[]][] = [
  ['A', '', '256.1.1.1', '1.2.3', '2001:db8::1', '192.0.2.1/24', '192.0.2.01', 'example.net'],
  ['AAAA', '', '192.0.2.1', '2001:db8::g', 'fe80::1%eth0', '2001:db8'],
  [
    'CNAME',
    '',
    '.',
    '192.0.2.1',
    'a b.example',
    'a..b',
    `${'a'.repeat(64)}.example`,
    'a;b.example',
    'a"b.example',
    'a(b.example',
    'a\\032b.example',
    '*.x',
    'a,b.example',
    'a+b.example',
  ],
  ['MX', '', 'a b', '70000 mail.example', '192.0.2.1', '10 20 mail.example', 'x.example.net/path', '5 a+b.example'],
  ['TXT', 'x'.repeat(65_255)],
  ['NS', '', '.', '192.0.2.1', 'ns_1 .example', 'x.example.net/path'],
  ['SRV', '', 'sip.example', '5060 sip.example', '0 70000 sip.example', '0 -1 sip.example', '0 1 192.0.2.1', '0 1 a/b'],
  [
    'CAA',
    '',
    '0',
    '0 issue',
    '256 issue "x"',
    '0 is-sue "x"',
    '0 issue "open',
    '0 issue "a" "b"',
    '0 issue "a\\009b"',
    '0 issue a\u007f',
  ],
  ['SVCB', '', '1', 'x svc.example', '1 192.0.2.1'],
  ['HTTPS', '', '.', '70000 .', '1 "open'],
  ['TLSA', '', '3 1 1', '3 1 1 xyz', '3 1 1 abc', '300 1 1 ab'],
  ['SSHFP', '', '4 2', '4 2 zz', 'a 2 ab'],
  [
    'NAPTR',
    '',
    '1 1 "s" "x" "" a\\.b.example.',
    '1 1 s"x" "" .',
    '1 1 "s" "x" ""',
    '1 1 "s" "x" "" 192.0.2.1',
    'x 1 "s" "x" "" .',
  ],
  ['DS', '', '1 2 3', '70000 13 2 ab', '1 13 2 ab c'],
  ['PTR', '', '192.0.2.1', '.'],
  ['ALIAS', '', '192.0.2.1', '.'],
  ['LOC', '', '91 N 4 E 0', '52 60 N 4 E 0', '52 1 60 N 4 E 0', '52 N 181 E 0', '52 4 0', '52 N 4 E 1.2.3'],
  ['URI', '', '10 1', '10 70000 "x"', '10 1 "a" "b"'],
  ['RP', '', 'admin.example.net', '. . .', '192.0.2.1 .', 'a\\032b.example. .', 'a|b.example. .'],
  ['DHCID', '', 'AAIBY', 'AA=B', 'AAI*', 'AAIBY2='],
  ['DNAME', '', '.', '192.0.2.1', 'a..b'],
  [
    'DNSKEY',
    '',
    '257 3 13',
    '70000 3 13 AAAA',
    '257 300 13 AAAA',
    '257 3 300 AAAA',
    '257 3 13 AA=',
    '257 3 13 \u00e9AAA',
  ],
  ['OPENPGPKEY', '', '-----BEGIN', 'AAA', '===='],
  ['SMIMEA', '', '3 1 1', '3 1 1 xyz', '300 1 1 ab', '3 1 1 abc'],
];

describe('canonical records', () => {
  for (const [type, given, [value, priority], rdata] of CANONICAL) {
    it(`${type} ${given.join(' / ')}`, () => {
      const canonical = record(type, ...given);
      assert.deepEqual([canonical.value, canonical.priority], [value, priority]);
      assert.deepEqual(record(type, value, priority ?? undefined), canonical, 'canonical stays as it is');
      assert.equal(rdataOf(canonical), rdata);
      const back = fromRdata(`${fullName(canonical.host, ZONE)}.`, type, rdata, canonical.ttl, ZONE);
      assert.deepEqual(back, { ...canonical, readOnly: false });
    });
  }

  for (const [type, ...values] of INVALID) {
    for (const value of values) {
      it(`${type} refuses "${value.slice(0, 40)}"`, () => {
        assert.equal(
          fieldOf(() => record(type, value)),
          'value',
        );
      });
    }
  }

  it('names the host name to write where a URL stands for a target', () => {
    const words = (type: string, value: string) => {
      try {
        return record(type, value).value;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const meant = 'value: must be a host name, not a URL: write "x.example.net"';
    for (const type of ['CNAME', 'ALIAS', 'DNAME', 'MX', 'NS', 'PTR', 'SRV'])
      assert.equal(words(type, 'https://X.example.net:8443/path?q'), meant, type);
    assert.equal(words('MX', '10 http://x.example.net/'), meant);
    assert.equal(words('CNAME', 'http://192.0.2.1/'), 'value: must be a host name, not a URL');
    // what a provider holds is shown, and can be mended
    const shown = fromRdata(`www.${ZONE}.`, 'CNAME', 'http://x.example.net.', 60, ZONE);
    assert.deepEqual([shown?.value, shown?.readOnly], ['http://x.example.net', false]);
    assert.equal(words('URI', '10 1 "https://x.example.net/"'), '10 1 "https://x.example.net/"');
    assert.equal(words('TXT', 'https://x.example.net/'), 'https://x.example.net/');
  });

  it('both tables hold every type', () => {
    const all = [...RECORD_TYPES, ...EXTRA_TYPES].sort();
    assert.deepEqual([...new Set(CANONICAL.map(([type]) => type))].sort(), all);
    assert.deepEqual(INVALID.map(([type]) => type).sort(), all);
  });

  it('fills in defaults and names the field that is wrong', () => {
    assert.deepEqual(dnsRecord({ host: '', type: 'a', value: '192.0.2.1', line: '' }, ZONE), {
      host: '@',
      type: 'A',
      value: '192.0.2.1',
      ttl: 600,
      priority: null,
      weight: null,
      line: 'default',
      proxied: false,
      enabled: true,
    });
    const loose = { host: 'www', type: 'A', value: '192.0.2.1' };
    const all = { host: 'a..b', type: 'MX', value: 'a b c', ttl: -1, priority: -1 };
    assert.throws(
      () => dnsRecord(all, ZONE),
      (error: { mistakes: { path: string; code: string }[] }) => {
        const codes = error.mistakes.map((m) => [m.path, m.code]);
        assert.deepEqual(codes, [
          ['host', 'format'],
          ['ttl', 'range'],
          ['priority', 'range'],
          ['value', 'format'],
        ]);
        return true;
      },
    );
    assert.equal(dnsRecord({ ...loose, ttl: 0 }, ZONE).ttl, 0);
    for (const ttl of [-1, 1.5, 2 ** 31, Number.NaN]) {
      assert.equal(
        fieldOf(() => dnsRecord({ ...loose, ttl }, ZONE)),
        'ttl',
      );
    }
    for (const priority of [-1, 65536, 0.5]) {
      assert.equal(
        fieldOf(() => dnsRecord({ ...loose, type: 'MX', value: 'a.example', priority }, ZONE)),
        'priority',
      );
    }
    for (const type of ['SOA', 'X', 'constructor', '']) {
      assert.equal(
        fieldOf(() => dnsRecord({ ...loose, type }, ZONE)),
        'type',
      );
    }
  });

  it('shows what it cannot express read-only, and not what servers manage', () => {
    const odd: [string, string][] = [
      ['LUA', 'A "return 1"'],
      ['A', 'not an address'],
      ['TXT', '"not UTF-8 \\255"'],
      ['TXT', '"open'],
      ['CNAME', 'a\\032b.example.'],
    ];
    for (const [type, rdata] of odd) {
      const shown = fromRdata(`odd.${ZONE}`, type, rdata, 60, ZONE);
      assert.deepEqual([shown?.readOnly, shown?.value, shown?.priority], [true, rdata, null]);
    }
    for (const type of MANAGED_TYPES) assert.equal(fromRdata(ZONE, type, 'x', 60, ZONE), null);
    assert.equal(fromRdata('example.org.', 'A', '192.0.2.1', 60, ZONE), null);
    assert.equal(fromRdata('notexample.com.', 'A', '192.0.2.1', 60, ZONE), null);
  });
});

describe('names', () => {
  it('zones: lower case, A-labels, no final dot', () => {
    assert.equal(zoneName(' Example.COM. '), 'example.com');
    assert.equal(zoneName('Bücher.example'), 'xn--bcher-kva.example');
    assert.equal(zoneName('例え。テスト'), 'xn--r8jz45g.xn--zckzah');
    assert.equal(zoneName('0/25.2.0.192.in-addr.arpa'), '0/25.2.0.192.in-addr.arpa');
    const long = `${'a'.repeat(63)}.`.repeat(3);
    assert.equal(zoneName(`${long}${'b'.repeat(61)}`).length, 253);
    for (const bad of [
      '',
      '.',
      'a..b',
      '.a',
      '*.a',
      'a b',
      '@',
      `${'a'.repeat(64)}.b`,
      `${long}${'b'.repeat(62)}`,
      'a"b.c',
    ]) {
      assert.equal(
        fieldOf(() => zoneName(bad)),
        'name',
        bad,
      );
    }
  });

  it('hosts: relative, with wildcard and underscore', () => {
    const cases: [string, string][] = [
      ['', '@'],
      ['@', '@'],
      ['WWW', 'www'],
      ['*', '*'],
      ['*.a', '*.a'],
      ['_dmarc', '_dmarc'],
      ['bücher', 'xn--bcher-kva'],
      ['a.b', 'a.b'],
      ['example.com.', '@'],
      ['www.example.com.', 'www'],
      ['www.example.com.example.com.', 'www.example.com'],
      ['myexample.com', 'myexample.com'],
      ['-a-', '-a-'],
      ['a.-', 'a.-'],
    ];
    for (const [given, host] of cases) assert.equal(hostName(given, ZONE), host, given);
    for (const bad of [
      'a..b',
      '.a',
      'a.*',
      'a*',
      'x.example.org.',
      'a b',
      `${'a.'.repeat(125)}a`,
      'www.example.com',
      'WWW.Example.com',
      'example.com',
      'a+b',
      'xn--\u0000',
    ]) {
      assert.equal(
        fieldOf(() => hostName(bad, ZONE)),
        'host',
        bad,
      );
    }
  });

  it('says both ways to write a host that ends with the name of the zone', () => {
    const said = (input: string, zone = ZONE) => {
      try {
        return hostName(input, zone);
      } catch (error) {
        return (error as { mistakes: { params: unknown }[] }).mistakes[0]?.params;
      }
    };
    const full = 'api.example.com.example.com.';
    assert.deepEqual(said('API.example.com'), { values: ['api', 'api.example.com.', full] });
    assert.deepEqual(said('example.com'), { values: ['@', 'example.com.', 'example.com.example.com.'] });
    assert.equal(said(full), 'api.example.com');
    assert.deepEqual(said('www.bücher.example', 'xn--bcher-kva.example'), {
      values: ['www', 'www.xn--bcher-kva.example.', 'www.xn--bcher-kva.example.xn--bcher-kva.example.'],
    });
  });

  it('turns provider names into hosts and A-labels into words', () => {
    assert.equal(relativeName('WWW.Example.com.', ZONE), 'www');
    assert.equal(relativeName('example.com', ZONE), '@');
    assert.equal(relativeName('straße.example.com', ZONE), 'xn--strae-oqa');
    assert.equal(relativeName('badexample.com.', ZONE), null);
    assert.equal(toUnicode('*.xn--bcher-kva.example'), '*.bücher.example');
    assert.equal(toUnicode('_x'), '_x');
  });
});

describe('TXT', () => {
  const texts = [
    '',
    'x',
    'x'.repeat(255),
    'x'.repeat(256),
    'ü'.repeat(1000),
    'a"b\\c;d',
    '\\065',
    '\t\n\u0000',
    '"a" "b"',
    ' ',
  ];
  for (const text of texts) {
    it(`round trip of ${JSON.stringify(text.slice(0, 12))} (${text.length})`, () => {
      assert.equal(txtFromPresentation(txtPresentation(text)), text);
      assert.ok(txtStrings(text).every((s) => s.length <= 255));
      assert.doesNotMatch(txtPresentation(text), /[^\x20-\x7e]/);
    });
  }

  it('splits at 255 bytes', () => {
    assert.equal(txtPresentation('x'.repeat(256)), `"${'x'.repeat(255)}" "x"`);
    assert.deepEqual(
      txtStrings('ü'.repeat(128)).map((s) => s.length),
      [255, 1],
    );
  });

  it('reads every presentation form', () => {
    const cases: [string, string | null][] = [
      ['"a" "b"', 'ab'],
      ['a b', 'ab'],
      ['"\\065\\"\\\\"', 'A"\\'],
      ['"\\195\\188"', 'ü'],
      ['"a""b"', 'ab'],
      ['""', ''],
      ['"open', null],
      ['a"b"', null],
      ['a\\"b', 'a"b'],
      ['a;b (c)', 'a;b(c)'],
      ['"\\12"', null],
      ['"\\', null],
      ['"\\300"', null],
      ['"\\255"', null],
      ['', null],
    ];
    for (const [given, text] of cases) assert.equal(txtFromPresentation(given), text, given);
  });

  it('shows a text so that it is read as what it is', () => {
    for (const text of [...texts, '"whole"', '"a" "b"', '"\\255"', '"\\065"', '"a"b', ' "a" ', '"a"\n"b"', '"ü"']) {
      assert.equal(txtFromInput(txtShown(text)), text, text);
    }
    assert.equal(txtShown('"whole"'), '"\\"whole\\""');
    assert.equal(txtShown('not "all" quoted'), 'not "all" quoted');
  });

  it('takes only well-formed quoted strings for presentation form', () => {
    assert.equal(txtFromInput('"a" "b"'), 'ab');
    assert.equal(txtFromInput('"a'), '"a');
    assert.equal(txtFromInput('a "b"'), 'a "b"');
    assert.equal(txtFromInput('"a"b"'), '"a"b"');
    assert.equal(txtFromInput('\\065'), '\\065');
    assert.equal(txtFromInput('"\\255"'), '"\\255"');
  });
});
