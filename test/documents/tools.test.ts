import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { DocumentFormat } from '../../src/documents/document.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { providerOf } from '../../src/providers/registry.js';
import { textOf as textInConsole } from '../../web/src/screens/zone/file-text.js';

const ZONE = 'example.com';
const read = (format: DocumentFormat, text: string, options = {}) => parseDocument(format, text, ZONE, options);

/** Records of a document without mistakes, as short lines. */
async function recordsOf(format: DocumentFormat, text: string, options = {}): Promise<string[]> {
  const { errors, records } = await read(format, text, options);
  assert.deepEqual(errors, []);
  return records.map(({ record: { host, ttl, type, priority, value, proxied } }) =>
    [host, ttl, type, priority, value, proxied ? 'proxied' : null].filter((part) => part !== null).join(' '),
  );
}
const mistakesOf = async (format: DocumentFormat, text: string): Promise<[number, string][]> =>
  (await read(format, text)).errors.map(({ line, message }) => [line, message]);
const notesOf = async (format: DocumentFormat, text: string, options = {}) =>
  (await read(format, text, options)).notes.map(({ line, key, count }) => `${line} ${key} ${count}`);

describe('a zone file that another tool has written', () => {
  it('of Windows is read with the ages of its dynamic records', async () => {
    const text = [
      ';  Database file (null) for Default zone scope in zone example.com.',
      '@                       IN  SOA dc.example.com. admin.example.com. (',
      '                        \t11           ; serial number',
      '                        \t900 600 86400 1800 ) ; default TTL',
      '@                       600\tA\t192.0.2.1',
      'ws1                     [AGE:3712345]\t1200\tA\t192.0.2.2',
      '                        [age:3712346]\tAAAA\t2001:db8::2',
      'ws2                     [AGE:0]\tIN\tA\t192.0.2.3',
      'txt                     TXT\t( "[AGE:1]" )',
    ].join('\r\n');
    assert.deepEqual(await recordsOf('zonefile', text), [
      '@ 600 A 192.0.2.1',
      'ws1 1200 A 192.0.2.2',
      'ws1 1800 AAAA 2001:db8::2',
      'ws2 1800 A 192.0.2.3',
      'txt 1800 TXT [AGE:1]',
    ]);
    for (const [type, rest] of [
      ['WINS', 'L2 C900 ( 192.0.2.9 )'],
      ['WINSR', 'L2 C900 ( example.com. )'],
      ['[AGE:x]', '600 A 192.0.2.1'],
    ])
      assert.deepEqual(await mistakesOf('zonefile', `@ 600 ${type} ${rest}\n`), [
        [1, `"${type}" is not a record type: correct it, or remove the line`],
      ]);
  });

  it('of GoDaddy is read with @ at the end of names, in owners and data', async () => {
    const text = [
      '$ORIGIN example.com.',
      '_sips._tcp.@\t3600\t IN \tSRV\t1 2 443\tsip.@',
      'a.b.@ 600 IN CNAME www.@',
      '@ 600 IN MX 10 mail.@',
      'txt 600 IN TXT "a.@" a.@',
    ].join('\n');
    assert.deepEqual(await recordsOf('zonefile', text), [
      '_sips._tcp 3600 SRV 1 2 443 sip.example.com',
      'a.b 600 CNAME www.example.com',
      '@ 600 MX 10 mail.example.com',
      'txt 600 TXT a.@a.@',
    ]);
    for (const name of ['a.\\@', 'a\\.@', '"a.@"'])
      assert.equal((await mistakesOf('zonefile', `${name} 60 A 192.0.2.1\n`)).length, 1, name);
  });

  it('of dig is read without the signatures of a transfer', async () => {
    const text = [
      '; <<>> DiG 9.18 <<>> example.com AXFR',
      'example.com.\t\t300\tIN\tSOA\tns.example.com. h.example.com. 1 2 3 4 5',
      'www.example.com.\t300\tIN\tA\t192.0.2.1',
      'example.com.\t\t300\tIN\tSOA\tns.example.com. h.example.com. 1 2 3 4 5',
      'key.\t\t\t0\tANY\tTSIG\thmac-sha256. 1700000000 300 32 YWJj 1 NOERROR 0 ',
      ';; Query time: 0 msec',
    ].join('\n');
    assert.deepEqual(await recordsOf('zonefile', text), ['www 300 A 192.0.2.1']);
  });

  const DUMP = [
    ';',
    '; Start view _default',
    ';',
    "; Cache dump of view '_default' (cache _default)",
    ';',
    '$DATE 20300102030405',
    '; authanswer',
    'www.example.com.\t300\tIN A\t203.0.113.9',
    'other.example.net.\t300\tA\t203.0.113.9',
    '\t\t300\t\\-AAAA\t;-$NXRRSET',
    ';',
    "; Zone dump of 'other.example/IN'",
    ';',
    'www.other.example. 300 IN A 203.0.113.9',
    ';',
    "; Zone dump of 'EXAMPLE.com/IN/inside (signed)'",
    ';',
    '$DATE 20300102030405',
    'example.com. 86400 IN SOA ns.example.com. host.example.com. 1 2 3 4 5',
    '; secure',
    '\t\t86400\tNS\tns1.example.net.',
    '; glue',
    '\\*.example.com.\t300\tA\t192.0.2.2',
  ];

  it('of rndc dumpdb is read without the cache and other zones', async () => {
    assert.deepEqual(await recordsOf('zonefile', DUMP.join('\n')), ['@ 86400 NS ns1.example.net', '* 300 A 192.0.2.2']);
    assert.deepEqual(await notesOf('zonefile', DUMP.join('\n')), ['8 elsewhere 4']);
  });

  it('of rndc dumpdb is refused where it has two views of the zone', async () => {
    const text = [...DUMP, "; Zone dump of 'example.com/IN/outside'", 'www.example.com. 300 IN A 192.0.2.3'].join('\n');
    assert.deepEqual(await mistakesOf('zonefile', text), [
      [24, 'the zone is in the file twice, as of two views: keep one of them'],
    ]);
  });

  const CLOUDFLARE = [
    ';;',
    ';; Domain:     example.com.',
    ';; Exported:   2030-01-02 03:04:05',
    ';;',
    'example.com\t3600\tIN\tSOA\ta.ns.cloudflare.com. dns.cloudflare.com. 1 2 3 4 5',
    'a.example.com.\t1\tIN\tA\t192.0.2.1 ; cf_tags=cf-proxied:true',
    'b.example.com.\t1\tIN\tA\t192.0.2.2 ; a remark cf_tags=team:web,cf-proxied:false',
    'c.example.com.\t900\tIN\tCNAME\ta.example.com. ; cf_tags=cf-proxied:true,team:web',
    'd.example.com.\t60\tIN\tTXT\t"; cf_tags=cf-proxied:true"',
  ];

  it('of Cloudflare is read with what its comments say, at Cloudflare', async () => {
    const text = `${CLOUDFLARE.join('\n').replace('example.com\t', 'example.com.\t')}\n`;
    const options = { provider: providerOf('cloudflare') };
    assert.deepEqual(await recordsOf('zonefile', text, options), [
      'a 1 A 192.0.2.1 proxied',
      'b 1 A 192.0.2.2',
      'c 1 CNAME a.example.com proxied',
      'd 60 TXT ; cf_tags=cf-proxied:true',
    ]);
    assert.deepEqual(await notesOf('zonefile', text, options), []);
  });

  it('of Cloudflare is imported elsewhere without proxying, and automatic TTLs are replaced', async () => {
    const text = `${CLOUDFLARE.join('\n').replace('example.com\t', 'example.com.\t')}\n`;
    const options = { provider: providerOf('zonefile') };
    assert.deepEqual(await recordsOf('zonefile', text, options), [
      'a 300 A 192.0.2.1',
      'b 300 A 192.0.2.2',
      'c 900 CNAME a.example.com',
      'd 60 TXT ; cf_tags=cf-proxied:true',
    ]);
    assert.deepEqual(await notesOf('zonefile', text, options), ['6 automatic 2', '6 proxied 2']);
    // a second that Cloudflare has not written is one
    assert.deepEqual(await recordsOf('zonefile', 'a 1 A 192.0.2.1\n', options), ['a 1 A 192.0.2.1']);
  });

  it('is read in linear time: quadratic time would take hours', async () => {
    for (const comment of [';'.repeat(4_000_000), `;${'cf_tags=,'.repeat(1_000_000)}`])
      assert.deepEqual(await recordsOf('zonefile', `a 60 A 192.0.2.1 ${comment}\n`), ['a 60 A 192.0.2.1']);
  });

  it('keeps a TTL of 1 where a text alone looks like a tag of Cloudflare', async () => {
    const text = 'a 1 A 192.0.2.1\nb 60 TXT "x; cf_tags=cf-proxied:true"\n';
    assert.deepEqual(await recordsOf('zonefile', text, { provider: providerOf('zonefile') }), [
      'a 1 A 192.0.2.1',
      'b 60 TXT x; cf_tags=cf-proxied:true',
    ]);
  });

  it('names the directive that is not read', async () => {
    assert.deepEqual(await mistakesOf('zonefile', '$ZONE x\n'), [[1, '$ZONE is not supported: remove the line']]);
  });
});

describe('a record of the type SPF', () => {
  const TEXT = 'v=spf1 a -all';
  const DOCUMENTS: [DocumentFormat, string][] = [
    ['zonefile', `@ 600 SPF "${TEXT}"\n`],
    ['zonefile', `@ 600 TYPE99 \\# 14 0d763d737066312061202d616c6c\n`],
    ['csv', `host,type,value,ttl\n@,spf,${TEXT},600\n`],
    ['json', JSON.stringify([{ host: '@', type: 'SPF', value: TEXT, ttl: 600 }])],
    ['octodns', `'': {type: SPF, value: ${TEXT}, ttl: 600}\n`],
  ];
  it.each(DOCUMENTS)('is read as TXT, with a note: %s', async (format, text) => {
    assert.deepEqual(await recordsOf(format, text), [`@ 600 TXT ${TEXT}`]);
    assert.equal((await notesOf(format, text)).length, 1);
  });

  it('counts once beside the same TXT, and joins its strings as a TXT does', async () => {
    const { records, errors, repeated } = await read('zonefile', `@ 60 TXT "${TEXT}"\n@ 60 SPF "v=spf1 a" " -all"\n`);
    assert.deepEqual([records.length, errors.length, repeated.length], [1, 0, 1]);
    assert.deepEqual(await recordsOf('zonefile', '@ 60 SPF v=spf1 a\n'), ['@ 60 TXT v=spf1a']);
  });

  it('stays one where the zone has it', async () => {
    const rest = { ttl: 60, priority: null, weight: null, line: 'default', proxied: false, enabled: true };
    const known = [{ host: '@', type: 'SPF', value: `"${TEXT}"`, read_only: true, ...rest }];
    const { records, notes } = await read('zonefile', `@ 60 SPF "${TEXT}"\n`, { known });
    assert.deepEqual([records[0]?.record.type, records[0]?.readOnly, notes], ['SPF', true, []]);
  });
});

describe('CSV of a spreadsheet', () => {
  const ROWS = ['www,A,192.0.2.1,300', 'txt,TXT,"a, b; c",300'];
  const WANTED = ['www 300 A 192.0.2.1', 'txt 300 TXT a, b; c'];
  const csv = (separator: string, first = '') =>
    first + ['host,type,value,ttl', ...ROWS].join('\r\n').replaceAll(/,(?! )/g, separator);

  it.each([',', ';', '\t', '|', '^', ']'])('is read with the separator %j', async (separator) => {
    const isKnown = ',;\t'.includes(separator);
    if (isKnown) assert.deepEqual(await recordsOf('csv', csv(separator)), WANTED);
    assert.deepEqual(await recordsOf('csv', csv(separator, `sep=${separator}\r\n`)), WANTED);
    assert.deepEqual(await recordsOf('csv', `\uFEFF${csv(separator, `"sep=${separator}"\n`)}`), WANTED);
  });

  it('is read with empty rows, and empty columns behind the others', async () => {
    const text =
      ',,,\r\nhost,type,value,ttl,,\r\n\r\nwww,A,192.0.2.1,300,,\r\n ,,\t,,,\r\n,,,,,\r\ntxt,TXT,"a, b; c",300,,\r\n';
    assert.deepEqual(await recordsOf('csv', text), WANTED);
    assert.deepEqual(await recordsOf('csv', text.replaceAll(/,(?! )/g, ';')), WANTED);
    assert.deepEqual(await mistakesOf('csv', 'host,type,value,,\na,A,192.0.2.1,,x\n'), [[2, 'has 5 cells, not 3']]);
  });

  it('tells the lines of mistakes below the line of its separator', async () => {
    assert.deepEqual(
      (await mistakesOf('csv', 'sep=;\r\nhost;type;value\r\na;A;x\r\n')).map(([line]) => line),
      [3],
    );
  });

  it('names the separators where it has another one', async () => {
    const found = await mistakesOf('csv', 'host|type|value\na|A|192.0.2.1\n');
    assert.match(found.at(-1)?.[1] ?? '', /separated by commas, semicolons or tabs$/);
  });
});

describe('a document in UTF-16', () => {
  const TEXT = 'host\ttype\tvalue\r\nwww\tTXT\tgrün\r\n';
  const little = Buffer.from(`\uFEFF${TEXT}`, 'utf16le');
  const big = Buffer.from(little).swap16();

  it('is read from a file by its byte order mark, in the console', async () => {
    for (const bytes of [little, big, Buffer.from(TEXT), Buffer.from(`\uFEFF${TEXT}`)])
      assert.deepEqual(await recordsOf('csv', textInConsole(bytes)), ['www 600 TXT grün']);
  });

  it('is refused with the way out in every format where it came as UTF-8', async () => {
    for (const format of ['zonefile', 'csv', 'json', 'octodns'] as const)
      for (const bytes of [little, big])
        for (const encoding of ['utf8', 'latin1'] as const)
          assert.deepEqual(await mistakesOf(format, bytes.toString(encoding)), [
            [1, 'is UTF-16, or no text: save the file as UTF-8'],
          ]);
  });
});
