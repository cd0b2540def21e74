import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { fieldMessageIn } from '../../src/platform/common/words/field-words.js';
import { providerOf } from '../../src/providers/registry.js';

const ZONE = 'example.com';
const read = (format: DocumentFormat, text: string, options = {}) => parseDocument(format, text, ZONE, options);

/** Lines that are wrong, with a part of what is said of each. */
async function assertWrong(
  format: DocumentFormat,
  text: string,
  expected: [line: number, words: string][],
  options = {},
) {
  const { errors } = await read(format, text, options);
  assert.deepEqual(
    errors.map(({ line }) => line),
    expected.map(([line]) => line),
    JSON.stringify(errors, null, 1),
  );
  for (const [i, [, words]] of expected.entries()) {
    const error = errors[i];
    assert.ok(error?.message.includes(words), `${error?.message} has not: ${words}`);
    assert.equal(error?.path, 'document');
    assert.match(fieldMessageIn('zh', error), /\p{Script=Han}/u, error?.message);
  }
}

describe('all that is wrong with a document is told, by line:', () => {
  it('zone file', async () => {
    const lines = [
      '$TTL 300',
      '@ SOA ns h 1 2 3 4 5',
      '$INCLUDE other.zone',
      'a A 999.0.2.1',
      'b BOGUS x',
      'c CH A 192.0.2.1',
      '$GENERATE 1-2 d$ A 999.0.2.$',
      '$GENERATE 2-1 e$ A 192.0.2.$',
      `$GENERATE 1-2 f$\{0,1,q} A 192.0.2.$`,
      '$GENERATE 1-2 g$ BOGUS $',
      '$GENERATE 1-9000 h$ A 192.0.2.1',
      '$GENERATE 1-994 i$ A 192.0.2.1',
      '$GENERATE 1-1 j$ A 192.0.2.1',
      '$GENERATE 1-2147483647 k$ A 192.0.2.1',
      'l TXT "open',
      'm.example.net. A 192.0.2.1',
      'n 60 A 192.0.2.1',
      'n 61 A 192.0.2.1',
      '$ORIGIN',
      'o TXT ( "x"',
    ];
    await assertWrong('zonefile', `${lines.join('\n')}\n`, [
      [3, '$INCLUDE is not supported'],
      [4, 'in a.example.com. A: must be an IPv4 address'],
      [5, '"BOGUS" is not a record type: correct it'],
      [6, 'only class IN'],
      [7, 'in d1.example.com. A: must be an IPv4 address'],
      [8, 'the range of numbers'],
      [9, 'the template is broken'],
      [10, '"BOGUS" is not a record type'],
      [13, 'more than 10000 records in all'],
      [14, 'more than 10000 records in all'],
      [15, 'a quote is not closed'],
      [16, 'is not inside the zone'],
      [18, 'is in line 17 already'],
      [19, 'the directive is not understood'],
      [20, 'parentheses are not closed'],
    ]);
  });

  it('CSV', async () => {
    const lines = [
      'Host,type,value,ttl,priority,enabled,remark',
      'a,A,192.0.2.1,60,,,fine',
      'b,A,999.0.2.1,-1,,maybe,',
      'c,A,192.0.2.1',
      '"d","TXT","two',
      'lines ""and"" quotes",,,no,',
      'e,BOGUS,x,,,,',
      ',A,192.0.2.1,,,,',
      'f,MX,mail.example.net,6x,70000,,',
      'g,TXT,a"b,,,,',
      '',
      'a,A,192.0.2.1,60,,,fine',
      'a,A,192.0.2.1,61,,,fine',
      '"h,A,192.0.2.1,,,,',
    ];
    await assertWrong('csv', lines.join('\r\n'), [
      [3, 'in b A, ttl: must be an integer'],
      [3, 'in b A, enabled: must be a boolean value'],
      [3, 'in b A, value: must be an IPv4 address'],
      [4, 'has 3 cells, not 7'],
      [7, 'in e BOGUS, type: must be one of'],
      [8, 'in A, host: is required'],
      [9, 'in f MX, ttl: must be an integer'],
      [9, 'in f MX, priority: must not be greater than 65535'],
      [10, 'a quote inside a word'],
      [13, 'is in line 2 already'],
      [14, 'a quote is not closed'],
    ]);
    await assertWrong('csv', 'host,type,ttl,colour,ttl\na,A,1,red,2\n', [
      [1, '"colour" is no column'],
      [1, '"ttl" names two columns'],
      [1, 'must begin with a line'],
    ]);
    await assertWrong('csv', '\n', [[1, 'must begin with a line']]);
  });

  it('JSON', async () => {
    const lines = [
      '[',
      '  {"host": "a", "type": "A", "value": "999.0.2.1", "ttl": -1},',
      '  {"host": "b", "type": "A", "value": "192.0.2.1", "colour": "red", "ttl": "60"},',
      '  {"host": "c", "type": "A" "value": "192.0.2.1"},',
      '  {"type": "A", "value": "192.0.2.1"},',
      '  7, [],',
      '  {"host": "d", "type": "TXT", "value": "open},',
      '  {"host": "e", "type": "A", "value": "192.0.2.1"},',
      '  {"host": "e", "type": "A",',
      '   "value": "192.0.2.1", "ttl": 5}',
      '] x',
    ];
    const { errors } = await read('json', lines.join('\n'));
    const told = errors.map(({ line, message }) => `${line} ${message}`);
    for (const words of [
      '2 in a A, value: must be an IPv4 address',
      '2 in a A, ttl: must be a whole number of seconds',
      '3 in b A, colour: is not a known field',
      '3 in b A, ttl: must be an integer',
      '4 is not JSON',
      '5 in A, host: is required',
      '6 must be an object',
      '7 is not JSON',
    ])
      assert.ok(
        told.some((one) => one.startsWith(words)),
        `${words}\n${told.join('\n')}`,
      );
    const e = '{"host":"e","type":"A","value":"192.0.2.1"';
    await assertWrong('json', `[${e}},\n${e},"ttl":5}]`, [[2, 'is in line 1 already']]);
    for (const text of ['', '{}', '[', '[{}', '[{"host": "a"'])
      assert.ok((await read('json', text)).errors.length > 0, text);
    await assertWrong('json', '[\n]\n x', [[3, 'is not JSON']]);
    await assertWrong('json', '[7,\n]', [
      [1, 'must be an object'],
      [2, 'is not JSON'],
    ]);
  });

  it('octoDNS', async () => {
    const lines = [
      '---',
      '# a comment',
      "'':",
      '  - type: MX',
      '    values:',
      '      - preference: 10',
      '        exchange: mail.example.net.',
      '      - exchange: mail.example.net.',
      '      - mail.example.net.',
      '      - {preference: ten, exchange: mail.example.net., size: 5}',
      '  - type: A',
      '    value: 999.0.2.1',
      '  - type: A',
      '    values: [192.0.2.1]',
      'b:',
      '  type: BOGUS',
      '  value: x',
      'c: {type: A, value: 192.0.2.1, dynamic: {}}',
      'd:',
      '  type: A',
      'e: 5',
      'f: {type: A, value: "192.0.2.1}',
      'g:',
      '  type: A',
      '  ttl: 1h',
      '  value: 192.0.2.1',
      'c:',
      '  type: AAAA',
      '  value: 2001:db8::1',
      'h:',
      '  value: x',
      'i: *x',
    ];
    await assertWrong('octodns', `${lines.join('\n')}\n`, [
      [8, 'in @ MX: needs "preference"'],
      [9, 'in @ MX: must be an object'],
      [10, 'in @ MX: "size" has no form here'],
      [12, 'in @ A, value: must be an IPv4 address'],
      [13, 'the type is named twice'],
      [16, 'octoDNS has records of'],
      [18, 'in c A: "dynamic" has no form here'],
      [20, 'in d A: needs "value" or "values"'],
      [21, 'must be a record, or a list of records'],
      [22, 'is not YAML'],
      [26, 'in g A, ttl: must be an integer'],
      [27, 'the host is named twice, first in line 18'],
      [31, 'needs "type"'],
      [32, 'must be a record, or a list of records'],
    ]);
    await assertWrong('octodns', '- a\n- b\n', [[1, 'must be hosts with their records']]);
    await assertWrong('octodns', `a:\n  type: TXT\n  value: "${'x'.repeat(140_000)}"\nb: 5\n`, [
      [1, 'one host has more than 131072 characters'],
      [4, 'must be a record'],
    ]);
  });

  it('what the provider cannot hold', async () => {
    const text = 'host,type,value,line,proxied\na,A,192.0.2.1,telecom,\nb,A,192.0.2.1,,true\nc,ALIAS,x.example.net,,\n';
    const expected: [number, string][] = [
      [2, 'in a A, line: '],
      [3, 'in b A, proxied: '],
      [4, 'in c ALIAS, type: '],
    ];
    await assertWrong('csv', text, expected, { provider: providerOf('zonefile') });
  });

  it('up to 500 of them', async () => {
    for (const [format, text] of [
      ['zonefile', 'a BOGUS x\n'],
      ['octodns', 'a\n'],
    ] as const) {
      const { errors } = await read(format, text.repeat(2000));
      assert.equal(errors.length, 501);
      const message = 'after 500 mistakes, no more are looked for';
      assert.deepEqual(errors.at(-1), { path: 'document', line: 500, message, code: 'format' });
    }
    await assertWrong('zonefile', `a 9 TXT ${'x '.repeat(5000)}\n`, [[1, 'more than 4096 words']]);
  });
});

describe('a document', () => {
  const FORMATS: [DocumentFormat, string][] = [
    ['zonefile', 'www A 192.0.2.1\n@ 60 MX 5 mail\n'],
    ['csv', 'type,host,value,ttl,priority\nA,www,192.0.2.1,,\nmx,@,mail.example.com.,60,5\n'],
    [
      'json',
      '[{"host":"www","type":"a","value":"192.0.2.1"},{"name":"@","type":"MX","value":"mail.example.com","ttl":60,"mx":5}]',
    ],
    [
      'octodns',
      "www: {type: A, value: 192.0.2.1, ttl: 77}\n'': {type: MX, ttl: 60, value: {priority: 5, value: mail.example.com.}}\n",
    ],
  ];
  it.each(FORMATS)('has the canonical form of its records, and what it says of them: %s', async (format, text) => {
    const { records, errors } = await read(format, `\uFEFF${text}`, { ttl: 77 });
    assert.deepEqual(errors, []);
    const [www, mx] = records;
    const rest = { weight: null, line: 'default', proxied: false, enabled: true };
    assert.deepEqual(www?.record, { host: 'www', type: 'A', value: '192.0.2.1', ttl: 77, priority: null, ...rest });
    assert.deepEqual(mx?.record, { host: '@', type: 'MX', value: 'mail.example.com', ttl: 60, priority: 5, ...rest });
    const given = { host: '@', type: 'MX', value: 'mail.example.com', ttl: 60, priority: 5 };
    assert.deepEqual(mx?.input, format === 'zonefile' ? { ...given, enabled: true } : given);
  });

  it('is taken up in turns', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `h${i} 60 A 192.0.2.1\n`);
    let turns = 0;
    let next = setImmediate(function again() {
      turns++;
      next = setImmediate(again);
    });
    const { records } = await read('zonefile', lines.join(''));
    clearImmediate(next);
    assert.equal(records.length, 20_000);
    assert.ok(turns > 5, `${turns} turns`);
  });
});
