import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { hostmasterOf } from '../../src/dns/names.js';
import { fromRdata, type LooseRecord, rdataOf, readRecord, shownValue } from '../../src/dns/record.js';

const ZONE = 'example.com';
const read = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
  readRecord({ host: 'www', type, value, ...more }, ZONE);
/** What is wrong with a record: the fields and messages. */
const wrong = (...given: Parameters<typeof read>): string[] =>
  read(...given).mistakes.map(({ path, message }) => `${path}: ${message}`);

const hex = (octets: number) => 'ab'.repeat(octets);

/** Parameters as given, and as stored. */
const PARAMS: [given: string, stored?: string][] = [
  ['port=0'],
  ['port=65535'],
  ['port="443"', 'port=443'],
  ['alpn=h2,h3'],
  [`alpn=${'x'.repeat(255)}`],
  ['alpn=h2 no-default-alpn'],
  ['no-default-alpn="" alpn=h2', 'alpn=h2 no-default-alpn'],
  ['ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1'],
  ['ech=AAECAw=='],
  ['port=1 alpn=h2 mandatory=port,alpn', 'mandatory=alpn,port alpn=h2 port=1'],
  ['dohpath=/dns-query{?dns}', 'key7=/dns-query{?dns}'],
  ['mandatory=dohpath dohpath=/q{?dns}', 'mandatory=key7 key7=/q{?dns}'],
  ['ohttp', 'key8'],
  ['key667=hello key668'],
  ['key65534=', 'key65534'],
];

const LIST4 = 'must be IPv4 addresses, separated by commas';
const LIST6 = 'must be IPv6 addresses, separated by commas';
const PORT = 'must be a whole number from 0 to 65535';
const PROTOCOLS = 'must be protocol names of 2 to 255 characters, separated by commas';
const OTHERS = 'must name other parameters of the record, each one once';
const NO_VALUE = 'must not have a value';
const UNKNOWN = 'is not a known key: write an unknown key as its number, such as key667';

/** Parameters that are rejected, the one that is named, and why. */
const BAD_PARAMS: [given: string, parameter: string, reason: string][] = [
  ...['port=65536', 'port=x', 'port=', 'port', 'port=-1', 'port=1,2'].map((p) => [p, 'port', PORT] as never),
  ...['ipv4hint=300.1.1.1', 'ipv4hint=auto', 'ipv4hint=', 'ipv4hint=2001:db8::1', 'ipv4hint=192.0.2.1,'].map(
    (p) => [p, 'ipv4hint', LIST4] as never,
  ),
  ...['ipv6hint=auto', 'ipv6hint=192.0.2.1', 'ipv6hint', 'ipv6hint=fe80::1%eth0'].map(
    (p) => [p, 'ipv6hint', LIST6] as never,
  ),
  ...['alpn', 'alpn=', 'alpn=h2,', 'alpn=,h2', 'alpn=h2,h2', 'alpn=a', 'alpn=h.$2', `alpn=${'x'.repeat(256)}`].map(
    (p) => [p, 'alpn', PROTOCOLS] as never,
  ),
  ...['ech=abc', 'ech=', 'ech', 'ech=A*=='].map((p) => [p, 'ech', 'must be base64 text'] as never),
  ['alpn=h2 alpn=h3', 'alpn', 'is given twice'],
  ['dohpath=/{?dns} key7=/{?dns}', 'key7', 'is given twice'],
  ['no-default-alpn', 'no-default-alpn', 'is only allowed next to alpn'],
  ['alpn=h2 no-default-alpn=1', 'no-default-alpn', NO_VALUE],
  ['ohttp=1', 'ohttp', NO_VALUE],
  ['key8=1', 'key8', NO_VALUE],
  ['dohpath=/dns-query', 'dohpath', 'must be a path such as /dns-query{?dns}'],
  ['dohpath=dns{?dns}', 'dohpath', 'must be a path such as /dns-query{?dns}'],
  ['mandatory=alpn', 'mandatory', 'names alpn, which is not given'],
  ['mandatory=key667', 'mandatory', 'names key667, which is not given'],
  ['mandatory', 'mandatory', OTHERS],
  ['mandatory=', 'mandatory', OTHERS],
  ['mandatory=mandatory', 'mandatory', OTHERS],
  ['port=1 mandatory=port,port', 'mandatory', OTHERS],
  ['port=1 mandatory=key3', 'key3', 'must be written by its name, "port"'],
  ['port=1 mandatory=PORT', 'PORT', 'must be in lower case'],
  ...[0, 1, 2, 3, 4, 5, 6].map((n) => {
    const names = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint'];
    return [`key${n}=x`, `key${n}`, `must be written by its name, "${names[n]}"`] as never;
  }),
  ['ALPN=h2', 'ALPN', 'must be in lower case'],
  ...['foo=bar', 'key65535=1', 'key65536', 'key0667=1', 'key=1', 'constructor=1'].map(
    (p) => [p, p.replace(/=.*/, ''), UNKNOWN] as never,
  ),
];

describe('parameters of SVCB and HTTPS records', () => {
  for (const type of ['SVCB', 'HTTPS'] as const) {
    for (const [given, stored = given] of PARAMS)
      it(`of ${type} are stored: ${given.slice(0, 60)}`, () => {
        const { record, mistakes } = read(type, `1 . ${given}`);
        assert.deepEqual([mistakes, record.value], [[], `1 . ${stored}`]);
        assert.equal(read(type, record.value).record.value, record.value);
      });
    for (const [given, parameter, reason] of BAD_PARAMS)
      it(`of ${type} are rejected with the name of the parameter: ${given.slice(0, 60)}`, () => {
        assert.deepEqual(wrong(type, `1 . ${given}`), [`value: parameter ${parameter}: ${reason}`]);
      });
  }

  it('with unknown keys are printed in quotes, and read again as they were', () => {
    const { record } = read('HTTPS', '1 . alpn=h2 key667=.$x key668');
    assert.equal(rdataOf(record), '1 . alpn=h2 key667=".$x" key668');
    assert.equal(fromRdata(`www.${ZONE}`, 'HTTPS', rdataOf(record), 60, ZONE)?.value, record.value);
  });
});

/** Rdata that a provider holds although name servers do not load it, or hold it in another form. */
const HELD: [type: string, rdata: string][] = [
  ['HTTPS', '1 . ipv4hint=auto'],
  ['HTTPS', '1 . port=443 alpn=h2'],
  ['SVCB', '0 svc.example.net. ALPN=h2'],
  ['SSHFP', '4 2 abab'],
  ['DS', '1 13 2 abab'],
  ['TLSA', '3 1 1 abab'],
  ['CAA', '0 issuewildissuewild "x"'],
  ['LOC', '42 0 0.000 N 71 0 0.000 W -100001.00m 33.00m 10.00m 10.00m'],
  ['NAPTR', '1 1 "u" "x" "!(a!b!" .'],
  ['URI', '1 1 ""'],
];

describe('values that a provider holds', () => {
  for (const [type, rdata] of HELD)
    it(`keep their form and stay editable: ${type} ${rdata}`, () => {
      const held = fromRdata(`h.${ZONE}`, type, rdata, 60, ZONE);
      assert.deepEqual([held?.readOnly, held && rdataOf(held)], [false, rdata]);
    });
});

/** Values with the verdict: '' is valid. */
const LENGTHS: [type: string, value: string, verdict: RegExp | ''][] = [
  ['SSHFP', `4 1 ${hex(20)}`, ''],
  ['SSHFP', `4 2 ${hex(32)}`, ''],
  ['SSHFP', `4 3 ${hex(7)}`, ''],
  ['SSHFP', `4 1 ${hex(19)}`, /fingerprint must have 20 octets, not 19/],
  ['SSHFP', `4 2 ${hex(31)}`, /fingerprint must have 32 octets, not 31/],
  ['DS', `1 13 1 ${hex(20)}`, ''],
  ['DS', `1 13 2 ${hex(32)}`, ''],
  ['DS', `1 13 3 ${hex(32)}`, ''],
  ['DS', `1 13 4 ${hex(48)}`, ''],
  ['DS', `1 13 1 ${hex(32)}`, /digest must have 20 octets, not 32/],
  ['DS', `1 13 2 ${hex(31)}`, /digest must have 32 octets/],
  ['DS', `1 13 3 ${hex(33)}`, /digest must have 32 octets/],
  ['DS', `1 13 4 ${hex(47)}`, /digest must have 48 octets/],
  ['TLSA', `3 1 0 ${hex(5)}`, ''],
  ['TLSA', `3 1 1 ${hex(32)}`, ''],
  ['TLSA', `3 1 2 ${hex(64)}`, ''],
  ['TLSA', `3 1 1 ${hex(20)}`, /certificate data must have 32 octets/],
  ['TLSA', `3 1 2 ${hex(63)}`, /certificate data must have 64 octets/],
  ['SMIMEA', `3 1 1 ${hex(33)}`, /certificate data must have 32 octets/],
  ['SMIMEA', `3 1 2 ${hex(64)}`, ''],
  ['LOC', '42 N 71 W -100000m', ''],
  ['LOC', '42 N 71 W -100000.01m', /altitude/],
  ['LOC', '42 N 71 W 42849672.95m', ''],
  ['LOC', '42 N 71 W 42849672.96m', /altitude/],
  ['LOC', '42 N 71 W 0 90000000m', ''],
  ['LOC', '42 N 71 W 0 1 100000000m', /altitude/],
  ['URI', '1 1 "a"', ''],
  ['URI', '1 1 ""', /target that is not empty/],
  ['NAPTR', `1 1 "${'a'.repeat(255)}" "" "" .`, ''],
  ['NAPTR', `1 1 "${'a'.repeat(256)}" "" "" .`, /string of more than 255 octets/],
  ['NAPTR', `1 1 "" "${'ü'.repeat(128)}" "" .`, /string of more than 255 octets/],
  ['NAPTR', `1 1 "" "" "!${'a'.repeat(251)}!b!" .`, ''],
  ['NAPTR', `1 1 "" "" "!${'a'.repeat(252)}!b!" .`, /string of more than 255 octets/],
];

/** Regexps as they stand between quotes. */
const REGEXPS: [regexp: string, isValid: boolean][] = [
  ...[
    '',
    '!^.*$!sip:info@example.net!',
    '!^(.*)$!sip:\\\\1@b!i',
    '/a/b/',
    '#(a)(b)#\\\\2\\\\1#',
    '!a!!',
    '!a\\\\!b!c!',
  ],
  ...['![[:alpha:]]!a!', '![^0-9]{2,3}x!a!', '!a{1,255}!b!', '!(a|b)+$!c!', '![]a]!b!', '![a-]!b!', '!(a)\\\\1!b!'],
  ...['!a{3}b{4,}!c!', '!((a)b)!\\\\2!'],
].map((regexp) => [regexp, true]);
const BAD_REGEXPS = [
  ...['!', '!!', '!a', '!a!b', '!a!b!c!', '!a!b!g', '1a1b1', 'iaibi', '!!b!', '!a!\\\\1!', '!(a)!\\\\2!', '!a!\\\\0!'],
  ...['!(a!b!', '!a)!b!', '![a!b!', '![z-a]!b!', '!a**!b!', '!*a!b!', '!a||b!c!', '!|a!b!', '!a|!b!', '!a{256}!b!'],
  ...['!a{2,1}!b!', '!\\\\1!b!', '![[:foo:]]!b!', '!^*!b!', 'plain'],
];

describe('limits of values', () => {
  for (const [type, value, verdict] of LENGTHS)
    it(`${type} ${value.slice(0, 40)} (${value.length}) is ${verdict ? 'rejected' : 'accepted'}`, () => {
      const mistakes = wrong(type, value);
      if (verdict === '') assert.deepEqual(mistakes, []);
      else assert.match(mistakes.join(), verdict);
    });

  for (const [regexp, isValid] of [...REGEXPS, ...BAD_REGEXPS.map((bad): [string, boolean] => [bad, false])])
    it(`the regexp ${regexp} is ${isValid ? 'accepted' : 'rejected'}`, () => {
      const mistakes = wrong('NAPTR', `1 1 "u" "E2U+sip" "${regexp}" .`);
      assert.deepEqual(mistakes.length, isValid ? 0 : 1, mistakes.join());
    });

  it('a DS at the apex is an error of the host, below the apex it is not', () => {
    const value = `1 13 2 ${hex(32)}`;
    assert.match(wrong('DS', value, { host: '@' }).join(), /^host: must not be the apex/);
    assert.match(wrong('DS', value, { host: `${ZONE}.` }).join(), /^host: must not be the apex/);
    assert.deepEqual(wrong('DS', value), []);
  });

  it('a CNAME, ALIAS or DNAME does not point to itself', () => {
    for (const type of ['CNAME', 'ALIAS', 'DNAME']) {
      assert.match(wrong(type, `WWW.${ZONE}.`).join(), /^value: must not be the name of the record itself/, type);
      assert.match(wrong(type, '@', { host: '@' }).join(), /^value: must not be the name/, type);
      assert.deepEqual(wrong(type, `x.${ZONE}`), []);
    }
    // a record that is stored so can be changed, except to point to itself anew
    const stored = { type: 'CNAME', value: `a.${ZONE}`, host: 'a' };
    assert.deepEqual(readRecord(stored, ZONE, stored).mistakes, []);
    assert.equal(readRecord({ ...stored, host: 'a' }, ZONE, { value: stored.value }).mistakes.length, 1);
  });

  it('a null MX has the priority 0, which is its default', () => {
    assert.equal(read('MX', '.').record.priority, 0);
    assert.equal(read('MX', 'mail.example.net').record.priority, 10);
    assert.deepEqual(wrong('MX', '0 .'), []);
    assert.match(wrong('MX', '.', { priority: 10 }).join(), /^priority: must be 0/);
    assert.match(wrong('MX', '10 .').join(), /^value: must be 0/);
    const stored = { type: 'MX', host: 'www', value: '.' };
    const kept = { ...stored, priority: 10 };
    assert.deepEqual(readRecord({ ...stored, priority: 10 }, ZONE, kept).mistakes, []);
    assert.equal(readRecord({ ...stored, priority: 5 }, ZONE, kept).mistakes.length, 1);
  });

  it('typographic quotes are rejected where they are surely a mistake', () => {
    for (const [open, close] of ['“”', '„“', '«»', '‘’', '””'].map((pair) => [...pair] as [string, string])) {
      assert.match(wrong('TXT', `${open}v=spf1 -all${close}`).join(), new RegExp(`typographic quote ${open}`));
      assert.match(wrong('CAA', `0 issue ${open}ca.example.net${close}`).join(), /typographic quote/);
      assert.match(wrong('URI', `1 1 ${open}https://x.example${close}`).join(), /typographic quote/);
      assert.match(wrong('NAPTR', `1 1 ${open}u${close} "" "" .`).join(), /typographic quote/);
      assert.deepEqual(wrong('TXT', `she said ${open}hi${close} twice`), []);
    }
    // a text that is meant so is written, and shown, in straight quotes
    const { record, mistakes } = read('TXT', '"“meant”"');
    assert.deepEqual([mistakes, record.value], [[], '“meant”']);
    assert.deepEqual(wrong('TXT', shownValue(record)), []);
    assert.equal(read('TXT', shownValue(record)).record.value, record.value);
  });
});

describe('the mailbox of our own SOA', () => {
  for (const [zone, mailbox] of [
    ['example.com', 'hostmaster.example.com.'],
    ['0/25.1.168.192.in-addr.arpa', 'hostmaster.1.168.192.in-addr.arpa.'],
    ['a_b.-c.example.com', 'hostmaster.example.com.'],
    ['_', 'hostmaster.localhost.'],
    [
      `${`${'a'.repeat(63)}.`.repeat(3)}${'b'.repeat(61)}`,
      `hostmaster.${`${'a'.repeat(63)}.`.repeat(2)}${'b'.repeat(61)}.`,
    ],
  ] as const)
    it(`of ${zone.slice(0, 40)} has a host name as its domain`, () => assert.equal(hostmasterOf(zone), mailbox));
});
