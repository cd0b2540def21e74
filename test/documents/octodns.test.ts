import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { parseDocument } from '../../src/documents/parse-document.js';
import { printDocument } from '../../src/documents/print-document.js';
import { providerOf } from '../../src/providers/registry.js';

const ZONE = 'example.com';
const read = async (text: string, options = {}) => parseDocument('octodns', text, ZONE, options);

/** Records of a document without mistakes, as short lines. */
async function recordsOf(text: string, options = {}): Promise<string[]> {
  const { errors, records } = await read(text, options);
  assert.deepEqual(errors, []);
  return records.map(({ record: { host, ttl, type, priority, value } }) =>
    [host, ttl, type, priority, value].filter((part) => part !== null).join(' '),
  );
}
const mistakesOf = async (text: string, options = {}): Promise<[number, string][]> =>
  (await read(text, options)).errors.map(({ line, message }) => [line, message]);

describe('a document of octoDNS', () => {
  it('has its root under every key that YAML has for an empty text', async () => {
    for (const key of ["? ''\n: ", '? ""\n: ', "? ''\n:\n  ", "? ''\n# why\n: ", "'':\n  ", '"":\n  '])
      assert.deepEqual(
        await recordsOf(
          `---\n${key}- ttl: 300\n    type: A\n    value: 192.0.2.7\nwww:\n  type: A\n  value: 192.0.2.8\n`,
        ),
        ['@ 300 A 192.0.2.7', 'www 3600 A 192.0.2.8'],
        key,
      );
    assert.deepEqual(await recordsOf("? ''\n: type: A\n  value: 192.0.2.7\n? www\n: {type: A, value: 192.0.2.8}\n"), [
      '@ 3600 A 192.0.2.7',
      'www 3600 A 192.0.2.8',
    ]);
  });

  it('has parameters without a value as YAML has none', async () => {
    const set = (none: string) =>
      `s:\n  type: HTTPS\n  value:\n    svcpriority: 1\n    targetname: .\n    svcparams: {alpn: h2, no-default-alpn: ${none}}\n`;
    for (const none of ['null', '~', "''", ''])
      assert.deepEqual(await recordsOf(set(none)), ['s 3600 HTTPS 1 . alpn=h2 no-default-alpn'], none);
  });

  it('tells the lines of mistakes after such a key', async () => {
    const text = "---\n? ''\n: - ttl: 300\n    type: A\n    value: 999.0.2.7\nwww:\n  type: A\n  value: x\n";
    assert.deepEqual(
      (await mistakesOf(text)).map(([line]) => line),
      [5, 8],
    );
  });

  it('leaves out what octodns.ignored names, whatever it holds, and says which sets', async () => {
    const ignored = (flag: string, rest = 'type: A, value: 192.0.2.1') => `{octodns: {ignored: ${flag}}, ${rest}}`;
    const text = [
      `a: ${ignored('true')}`,
      `b: ${ignored('True')}`,
      `c: ${ignored('yes', 'type: TXT')}`,
      `d:\n- ${ignored('true')}\n- {type: TXT, value: kept}`,
      `e: ${ignored('false')}`,
      `f: ${ignored("''")}`,
      `'': ${ignored('on', 'type: MX, value: {odd: 1}')}`,
      '',
    ].join('\n');
    assert.deepEqual(await recordsOf(text), ['d 3600 TXT kept', 'e 3600 A 192.0.2.1', 'f 3600 A 192.0.2.1']);
    const { ignored: sets, notes } = await read(text);
    assert.deepEqual(
      sets.map(({ host, type }) => `${host} ${type}`),
      ['a A', 'b A', 'c TXT', 'd A', '@ MX'],
    );
    assert.deepEqual(notes, [{ line: 1, key: 'ignored', count: 5 }]);
  });

  it('has the flags of a CAA without them as 0, and no others', async () => {
    assert.deepEqual(await recordsOf("'': {type: CAA, values: [{tag: issue, value: ca.example}]}\n"), [
      '@ 3600 CAA 0 issue "ca.example"',
    ]);
    assert.deepEqual(
      await recordsOf("'': {type: CAA, value: {flags: 128, tag: iodef, value: 'mailto:a@b.example'}}\n"),
      ['@ 3600 CAA 128 iodef "mailto:a@b.example"'],
    );
    assert.deepEqual(
      await mistakesOf("'': {type: NAPTR, value: {order: 1, preference: 1, service: s, regexp: r, replacement: .}}\n"),
      [[1, 'in @ NAPTR: needs "flags"']],
    );
  });

  it('has ALIAS at the root alone, and no CNAME there, unless it is lenient', async () => {
    const set = (host: string, type: string, octodns = '') =>
      `'${host}':\n  ${octodns}type: ${type}\n  value: there.example.net.\n`;
    assert.deepEqual(await recordsOf(set('', 'ALIAS')), ['@ 3600 ALIAS there.example.net']);
    assert.deepEqual(await recordsOf(set('www', 'CNAME')), ['www 3600 CNAME there.example.net']);
    assert.deepEqual(await mistakesOf(set('www', 'ALIAS')), [
      [2, 'in www ALIAS: octoDNS has ALIAS at the root only: set octodns.lenient to true'],
    ]);
    assert.deepEqual(await mistakesOf(set('', 'CNAME')), [
      [2, 'in @ CNAME: octoDNS has no CNAME at the root: set octodns.lenient to true'],
    ]);
    const lenient = 'octodns: {lenient: true}\n  ';
    assert.deepEqual(await recordsOf(set('www', 'ALIAS', lenient)), ['www 3600 ALIAS there.example.net']);
    const cloudflare = { provider: providerOf('cloudflare') };
    assert.deepEqual(await recordsOf(set('', 'CNAME', lenient), cloudflare), ['@ 3600 CNAME there.example.net']);
    // what the provider cannot hold is no matter of leniency
    const zonefile = { provider: providerOf('zonefile') };
    assert.equal((await mistakesOf(set('', 'CNAME', lenient), zonefile)).length, 1);
  });

  it('is exported with octodns.lenient where octoDNS needs it', async () => {
    const rest = {
      ttl: 300,
      priority: null,
      weight: null,
      line: 'default',
      enabled: true,
      remark: '',
      readOnly: false,
    };
    const value = 'there.example.net';
    const records = [
      { host: '@', type: 'CNAME', value, proxied: true, ...rest },
      { host: 'a', type: 'ALIAS', value, proxied: false, ...rest },
      { host: 'c', type: 'CNAME', value, proxied: false, ...rest },
    ];
    let text = '';
    const pages = (async function* () {
      yield records;
    })();
    for await (const part of printDocument('octodns', ZONE, pages)) text += part;
    assert.deepEqual(text.match(/lenient: true|proxied: true/g), ['lenient: true', 'proxied: true', 'lenient: true']);
    assert.equal((await recordsOf(text)).length, 3);
  });
});
