import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { parseEntries, parseTtl } from '../../../src/dns/zonefile-entries.js';
import { bytesOf, nextSerial, standing } from '../../../src/providers/zonefile/edit.js';
import { parseMasterFile } from '../../../src/providers/zonefile/masterfile.js';

const read = async (text: string) =>
  (await parseMasterFile(text, 'example.com')).flatMap(({ record: r }) =>
    r ? [`${r.enabled ? '' : '-'}${r.owner} ${r.ttl} ${r.type} ${r.rdata}`] : [],
  );

const CASES: [string, string, string[]][] = [
  [
    'relative and absolute names',
    '$TTL 60\nwww A 192.0.2.1\nwww.example.net. A 192.0.2.2\n',
    ['www.example.com. 60 A 192.0.2.1', 'www.example.net. 60 A 192.0.2.2'],
  ],
  ['@ as owner and as target', '@ 60 MX 10 @\n', ['example.com. 60 MX 10 example.com.']],
  ['a quoted @ is text', '@ 60 TXT "@" @\n', ['example.com. 60 TXT "@" @']],
  [
    'class and TTL in either order, or none',
    '$TTL 9\na IN 60 A 192.0.2.1\nb 60 IN A 192.0.2.1\nc in A 192.0.2.1\nd 60 A 192.0.2.1\ne A 192.0.2.1\n',
    [
      'a.example.com. 60 A 192.0.2.1',
      'b.example.com. 60 A 192.0.2.1',
      'c.example.com. 9 A 192.0.2.1',
      'd.example.com. 60 A 192.0.2.1',
      'e.example.com. 9 A 192.0.2.1',
    ],
  ],
  [
    'an owner that looks like a class, a TTL or a type',
    '$TTL 9\nin A 192.0.2.1\n60 A 192.0.2.1\ntxt A 192.0.2.1\n',
    ['in.example.com. 9 A 192.0.2.1', '60.example.com. 9 A 192.0.2.1', 'txt.example.com. 9 A 192.0.2.1'],
  ],
  [
    'a blank owner is the one before',
    'a 60 A 192.0.2.1\n \t 60 A 192.0.2.2\n',
    ['a.example.com. 60 A 192.0.2.1', 'a.example.com. 60 A 192.0.2.2'],
  ],
  [
    'a missing TTL is the one before',
    'a 60 A 192.0.2.1\nb A 192.0.2.2\n',
    ['a.example.com. 60 A 192.0.2.1', 'b.example.com. 60 A 192.0.2.2'],
  ],
  [
    'without any TTL the minimum of the SOA',
    '@ SOA n h 1 2 3 4 1h\na A 192.0.2.1\n',
    ['example.com. 3600 SOA n.example.com. h.example.com. 1 2 3 4 1h', 'a.example.com. 3600 A 192.0.2.1'],
  ],
  [
    '$TTL holds until the next one',
    '$TTL 1h30m\na A 192.0.2.1\n$ttl 1w ; a week\nb A 192.0.2.1\n',
    ['a.example.com. 5400 A 192.0.2.1', 'b.example.com. 604800 A 192.0.2.1'],
  ],
  [
    '$ORIGIN, absolute and relative',
    '$TTL 9\n$ORIGIN sub\na CNAME b\n$ORIGIN example.net.\na NS b\n',
    ['a.sub.example.com. 9 CNAME b.sub.example.com.', 'a.example.net. 9 NS b.example.net.'],
  ],
  ['$ORIGIN of the root', '$ORIGIN .\nexample.com 9 NS ns.example.net\n', ['example.com. 9 NS ns.example.net.']],
  [
    'parentheses over lines, with comments',
    '@ 9 SOA ns h ( ; start\n 1 ; serial\n\n 2 3\n4 5 ) ; end\nx 9 A 192.0.2.1\n',
    ['example.com. 9 SOA ns.example.com. h.example.com. 1 2 3 4 5', 'x.example.com. 9 A 192.0.2.1'],
  ],
  [
    'semicolons and parentheses in quotes or escaped',
    'a 9 TXT "x;(y)" z\\;\\( ; comment "\n',
    ['a.example.com. 9 TXT "x;(y)" z\\;\\('],
  ],
  [
    'escapes',
    'a\\.b 9 TXT "\\"\\\\\\065" ""\n\\119ww 9 A 192.0.2.1\n',
    ['a\\.b.example.com. 9 TXT "\\"\\\\\\065" ""', 'www.example.com. 9 A 192.0.2.1'],
  ],
  ['an escaped quote is none', 'a 9 TXT x\\"y\\\\ z\n', ['a.example.com. 9 TXT x\\"y\\\\ z']],
  ['ALIAS of PowerDNS', 'a 9 ALIAS b\n', ['a.example.com. 9 ALIAS b.example.com.']],
  [
    'escaped octets above ASCII, and backslashes before digits',
    'a\\\\065 9 TXT "\\\xfc\\\\\xfc"\n\\046\\#\\252 9 A 192.0.2.1\n',
    ['a\\\\065.example.com. 9 TXT "\\252\\\\\\252"', '\\.#\\252.example.com. 9 A 192.0.2.1'],
  ],
  ['octets above ASCII', 'a 9 TXT "\xfc"\n', ['a.example.com. 9 TXT "\\252"']],
  ['upper case', 'WWW 9 in a 192.0.2.1\n', ['www.example.com. 9 A 192.0.2.1']],
  [
    'names inside rdata of every kind',
    '$TTL 9\na SRV 1 2 3 t\nb NAPTR 1 2 "" "" "" t\nc HTTPS 1 t alpn="h2,h3"\nd RP m t\n',
    [
      'a.example.com. 9 SRV 1 2 3 t.example.com.',
      'b.example.com. 9 NAPTR 1 2 "" "" "" t.example.com.',
      'c.example.com. 9 HTTPS 1 t.example.com. alpn="h2,h3"',
      'd.example.com. 9 RP m.example.com. t.example.com.',
    ],
  ],
  [
    'types without a name (RFC 3597)',
    'a 9 TYPE65534 \\# 2 ab cd\nb 9 MX \\# 3 000a00\n',
    ['a.example.com. 9 TYPE65534 \\# 2 ab cd', 'b.example.com. 9 MX \\# 3 000a00'],
  ],
  [
    'disabled records, which give nothing to the line after them',
    'a 60 A 192.0.2.1\n;zoneward:disabled b.example.com. 9 IN A 192.0.2.2\n A 192.0.2.3\n',
    ['a.example.com. 60 A 192.0.2.1', '-b.example.com. 9 A 192.0.2.2', 'a.example.com. 60 A 192.0.2.3'],
  ],
  [
    'no final line end, and carriage returns',
    'a 9 A 192.0.2.1\r\nb 9 A 192.0.2.2',
    ['a.example.com. 9 A 192.0.2.1', 'b.example.com. 9 A 192.0.2.2'],
  ],
  [
    'blank lines, comments, blanks at the end',
    '\n \n; c\n  ; c\na 9 A 192.0.2.1 \t\n',
    ['a.example.com. 9 A 192.0.2.1'],
  ],
];

const BROKEN: [string, string, RegExp][] = [
  ['$INCLUDE', '\n$include x\n', /line 2: \$INCLUDE/],
  ['$GENERATE', '$GENERATE 1-2 a A 192.0.2.$\n', /line 1: \$GENERATE/],
  ['an unknown directive', '$DATE 1\n', /line 1: \$DATE is not supported: remove the line/],
  ['a directive with too much', '$TTL 1 2\n', /not understood/],
  ['an open parenthesis', 'a 9 TXT (\n"x"\n', /line 1: parentheses/],
  ['a closing parenthesis too many', 'a 9 TXT x )\n', /closing parenthesis/],
  ['an open quote', 'a 9 TXT "x\n"\n', /line 1: a quote/],
  ['a quote inside a word', 'a 9 TXT x"y"\n', /quote inside/],
  ['a broken escape', 'a 9 TXT \\25\n', /escape/],
  ['an escape above 255', 'a 9 TXT \\256\n', /escape/],
  ['an unknown type', 'a 9 BOGUS x\n', /line \d: "BOGUS" is not a record type/],
  ['another class', 'a 9 CH TXT x\n', /class IN/],
  ['a type without data', 'a 9 A\n', /without data/],
  ['an owner alone', 'a\n', /without type/],
  ['no owner at all', ' 9 A 192.0.2.1\n', /no owner/],
  ['no TTL at all', 'a A 192.0.2.1\n', /without TTL/],
  ['a TTL out of range', 'a 4294967296 A 192.0.2.1\n', /line \d: not a TTL$/],
  ['a name that is too long', `${'a.'.repeat(1020)} 9 A 192.0.2.1\n`, /line 1: a name is too long/],
  ['a broken SOA', '@ 9 SOA a b 1 2 3 4\n', /SOA/],
  ['a broken disabled record', ';zoneward:disabled what is this\n', /line 1/],
];

describe('master file', () => {
  for (const [name, text, records] of CASES) {
    it(name, async () => {
      assert.deepEqual(await read(text), records);
      const entries = await standing(await parseMasterFile(text, 'example.com'), '\n');
      assert.equal((await bytesOf(entries)).toString('latin1'), text, 'printed again it is the same text');
    });
  }
  for (const [name, text, words] of BROKEN) {
    it(`refuses ${name}`, () => assert.rejects(read(text), { message: words, mayHaveApplied: false }));
  }

  const errorsOf = (text: string) => parseEntries(text, 'example.com').errors.map((e) => `${e.line} ${e.message}`);

  it('tells all that is wrong at once, and what follows from it not', () => {
    const text = [
      '$TTL 1h30',
      '@ SOA ns h ( 1 ; serial',
      '  2 3 4 5 )',
      '$INCLUDE other',
      'a A 192.0.2.1',
      'b TXT "open',
      '  BOGUS x',
      '  TXT ( "open )',
      'c TXT \\25 "',
      '  TXT )',
      '$GENERATE 1-2 h A 192.0.2.$',
      'd CH A 192.0.2.1',
      '  A',
      ';zoneward:disabled e 9 BOGUS x',
      'f TXT (',
      '  "x"',
      '  y',
      'g NONE x',
    ].join('\n');
    assert.deepEqual(errorsOf(text), [
      '1 not a TTL',
      '4 $INCLUDE is not supported; put the records into the file itself',
      '6 a quote is not closed',
      '7 "BOGUS" is not a record type: correct it, or remove the line',
      '8 a quote is not closed',
      '9 a broken escape',
      '10 a closing parenthesis without an opening one',
      '11 $GENERATE is not supported; put the records into the file itself',
      '12 only class IN is supported',
      '13 A without data',
      '14 "BOGUS" is not a record type: correct it, or remove the line',
      '15 parentheses are not closed: the file is cut short',
      '18 "NONE" is not a record type: correct it, or remove the line',
    ]);
    const { entries } = parseEntries(text, 'example.com');
    assert.equal(entries.map((entry) => entry.text).join(''), text);
    assert.deepEqual(
      entries.flatMap(({ record, line }) => (record ? [`${line} ${record.owner} ${record.type}`] : [])),
      ['2 example.com. SOA', '5 a.example.com. A'],
    );
  });

  it('takes owner and TTL of a broken line for those of the next', () => {
    const { entries } = parseEntries('a 9 BOGUS x\n A 192.0.2.1\nb 8 TXT "\n A 192.0.2.2\n', 'example.com');
    assert.deepEqual(
      entries.flatMap(({ record }) => (record ? [`${record.owner} ${record.ttl}`] : [])),
      ['a.example.com. 9', 'b.example.com. 8'],
    );
    assert.deepEqual(errorsOf('a 4294967296 A 192.0.2.1\nb A 192.0.2.2\n'), ['1 not a TTL']);
    assert.deepEqual(errorsOf('a A 192.0.2.1\nb A 192.0.2.2\n').length, 2);
    assert.deepEqual(parseEntries('a A 192.0.2.1\n', 'example.com', 60).entries[0]?.record?.ttl, 60);
  });

  it('goes on after a parenthesis that nothing closes only so often', () => {
    const [first, ...others] = errorsOf('a TXT (\n'.repeat(1000));
    assert.match(first ?? '', /^1 parentheses/);
    assert.equal(others.length, 4);
  });

  it('reads TTLs with and without units', () => {
    assert.deepEqual(['0', '60', '1H', '1w2d3h4m5s', '1h30', 'h', '1x', ''].map(parseTtl), [
      0,
      60,
      3600,
      788645,
      null,
      null,
      null,
      null,
    ]);
  });

  it('raises serials in the sense of RFC 1982', () => {
    assert.equal(nextSerial(2026010203, 20260103), 2026010300);
    assert.equal(nextSerial(2026010203, 20260102), 2026010204);
    assert.equal(nextSerial(2026010299, 20260102), 2026010300);
    assert.equal(nextSerial(2026139900, 20270102), 2026139901, 'no date');
    assert.equal(nextSerial(1, 20260102), 2);
    assert.equal(nextSerial(4294967295, 20260102), 1);
  });
});
