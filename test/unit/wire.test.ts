import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import packet from 'dns-packet';
import { sign, type TsigKey, TsigVerifier } from '../../src/dns/tsig.js';
import {
  ANSWER,
  CLASS,
  decode,
  encode,
  encodeRecord,
  OPCODE,
  type ReadRecord,
  readableTexts,
  TooMuch,
  TRANSFER,
  TYPE,
  textOf,
} from '../../src/dns/wire.js';
import { nameToWire, rdataToText, rdataToWire, readName, typeName, typeNumber } from '../../src/dns/wire-rdata.js';

const there = (type: string, text: string) => {
  const wire = rdataToWire(type, text);
  return rdataToText(type, wire, 0, wire.length);
};

describe('rdata', () => {
  for (const [type, text] of [
    ['A', '192.0.2.1'],
    ['AAAA', '2001:db8::1'],
    ['NS', 'ns1.example.net.'],
    ['CNAME', '.'],
    ['CNAME', 'a\\.b.\\000\\032x\\255.example.'],
    ['SOA', 'ns1.example. hostmaster.example. 4294967295 1 2 3 4'],
    ['MX', '0 .'],
    ['MX', '10 mail.example.net.'],
    ['TXT', '""'],
    ['TXT', '"a\\"b\\\\c; d" "\\000\\195\\188\\255"'],
    ['TXT', `"${'x'.repeat(255)}" "y"`],
    ['SRV', '1 2 65535 sip.example.net.'],
    ['CAA', '128 issue "ca.example.net; a=b"'],
    ['PTR', 'host.example.net.'],
    ['NAPTR', '100 10 "u" "E2U+sip" "!^.*$!sip:a@b!" .'],
    ['DS', `12345 13 2 ${'ab'.repeat(32)}`],
    ['SSHFP', `4 2 ${'cd'.repeat(32)}`],
    ['TLSA', `3 1 1 ${'ef'.repeat(32)}`],
    ['URI', `10 1 "https://example.net/${'p'.repeat(300)}"`],
    ['HINFO', '"PC" "Linux 6"'],
    ['RP', 'mail\\.box.example. txt.example.'],
    ['AFSDB', '1 afs.example.'],
    ['KX', '1 kx.example.'],
    ['DNAME', 'target.example.'],
    ['OPENPGPKEY', 'mDMEXEcE6RYJKwYBBAHaRw8BAQdArjWwk3FA'],
    ['SMIMEA', `3 1 1 ${'ab'.repeat(32)}`],
    ['CDS', `12345 13 2 ${'ab'.repeat(32)}`],
    ['CDNSKEY', '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjj'],
    ['ZONEMD', `2026112101 1 1 ${'ab'.repeat(48)}`],
    ['CERT', '1 12345 8 mdsswUyr3DPW'],
    ['TYPE65280', '\\# 3 abcdef'],
    ['CSYNC', '1 3 A NS AAAA'],
    ['CSYNC', '1 0 A CAA TYPE65280'],
  ] as const) {
    it(`${type} ${text.slice(0, 40)} keeps every octet`, () => assert.equal(there(type, text), text));
  }

  it('reads the types of a CSYNC by name, and keeps to its end', () => {
    const read = (hex: string) => rdataToText('CSYNC', Buffer.from(hex, 'hex'), 0, hex.length / 2);
    assert.equal(read('000000010003000460000008'), '1 3 A NS AAAA');
    assert.equal(read('000000010000010140'), '1 0 CAA');
    assert.throws(() => read('000000010003000460'), RangeError);
  });

  it('is what dns-packet writes, where it knows the type', () => {
    const same = (type: string, text: string, codec: { encode(data: never): Buffer }, data: unknown) =>
      assert.deepEqual(rdataToWire(type, text), Buffer.from(codec.encode(data as never).subarray(2)), type);
    const codec = (type: string) =>
      (packet as unknown as { record(t: string): { encode(d: never): Buffer } }).record(type);
    same('A', '192.0.2.1', codec('A'), '192.0.2.1');
    same('AAAA', '2001:db8::1', codec('AAAA'), '2001:db8::1');
    same('NS', 'ns.example.', codec('NS'), 'ns.example');
    same('MX', '10 m.example.', codec('MX'), { preference: 10, exchange: 'm.example' });
    same('TXT', '"one" "two"', codec('TXT'), ['one', 'two']);
    same('SRV', '1 2 3 s.example.', codec('SRV'), { priority: 1, weight: 2, port: 3, target: 's.example' });
    same('CAA', '0 issue "ca.example"', codec('CAA'), { flags: 0, tag: 'issue', value: 'ca.example' });
    same('TLSA', '3 1 1 abcd', codec('TLSA'), {
      usage: 3,
      selector: 1,
      matchingType: 1,
      certificate: Buffer.from('abcd', 'hex'),
    });
    same('NAPTR', '1 2 "u" "s" "r" x.', codec('NAPTR'), {
      order: 1,
      preference: 2,
      flags: 'u',
      services: 's',
      regexp: 'r',
      replacement: 'x',
    });
  });

  it('refuses what is not valid for the type', () => {
    for (const [type, text] of [
      ['A', '192.0.2'],
      ['AAAA', '192.0.2.1'],
      ['MX', 'ten mail.example.'],
      ['MX', '65536 mail.example.'],
      ['MX', '10'],
      ['A', '192.0.2.1 192.0.2.2'],
      ['TXT', `"${'x'.repeat(256)}"`],
      ['TXT', '"open'],
      ['TXT', '"\\300"'],
      ['CNAME', `${'x'.repeat(64)}.example.`],
      ['CNAME', 'a..example.'],
      ['CNAME', 'x.'.repeat(128)],
      ['CSYNC', '1 0 BOGUS'],
    ] as const) {
      assert.throws(() => rdataToWire(type, text), RangeError, `${type} ${text.slice(0, 20)}`);
    }
  });

  it('refuses rdata that is shorter or longer than it says', () => {
    for (const [type, hex] of [
      ['A', 'c00002'],
      ['A', 'c000020100'],
      ['TXT', '0561'],
      ['TXT', ''],
      ['MX', '000a'],
    ] as const) {
      const bytes = Buffer.from(hex, 'hex');
      assert.throws(() => rdataToText(type, bytes, 0, bytes.length), RangeError, `${type} ${hex}`);
    }
  });

  it('knows types by name and number', () => {
    assert.equal(typeNumber('CAA'), 257);
    assert.equal(typeNumber('TYPE65280'), 65280);
    assert.equal(typeName(33), 'SRV');
    assert.equal(typeName(65280), 'TYPE65280');
    assert.throws(() => typeNumber('BOGUS'), RangeError);
  });
});

describe('names', () => {
  it('follows compression backwards only', () => {
    const message = Buffer.concat([nameToWire('b.example.'), Buffer.from([1, 0x61, 0xc0, 0]), Buffer.from([0xc0, 15])]);
    assert.deepEqual(readName(message, 11), { name: 'a.b.example.', end: 15 });
    assert.throws(() => readName(message, 15), RangeError); // points at itself
    assert.throws(() => readName(Buffer.from([0xc0, 2, 0xc0, 0]), 0), RangeError); // forwards
    assert.throws(() => readName(Buffer.from([5, 0x61]), 0), RangeError); // too short
    assert.throws(() => readName(Buffer.from([0x40, 0]), 0), RangeError); // reserved label type
  });

  it('follows no more pointers than a name has labels', () => {
    const name = nameToWire('a.example.');
    // each leads to the one before it, the first to the name
    const chained = (count: number) => {
      const pointers = Array.from({ length: count }, (_, i) => (i ? name.length + 2 * (i - 1) : 0));
      const bytes = pointers.flatMap((target) => [0xc0 | (target >> 8), target & 0xff]);
      return readName(Buffer.concat([name, Buffer.from(bytes)]), name.length + 2 * (count - 1)).name;
    };
    for (const count of [1, 3, 127]) assert.equal(chained(count), 'a.example.');
    for (const count of [128, 8000]) assert.throws(() => chained(count), /too many pointers/);
  });
});

describe('messages', () => {
  it('writes an UPDATE as RFC 2136 lays it out, and reads it', () => {
    const record = { name: 'a.example.com', type: 1, ttl: 60, class: CLASS.IN, rdata: rdataToWire('A', '192.0.2.1') };
    const none = { name: 'b.example.com', type: 5, ttl: 0, class: CLASS.NONE, rdata: Buffer.alloc(0) };
    const message = encode(0x1234, OPCODE.UPDATE, { name: 'example.com', type: TYPE.SOA }, [[none], [record]]);
    const expected =
      '123428000001000100010000' +
      '076578616d706c6503636f6d0000060001' +
      '0162076578616d706c6503636f6d00000500fe000000000000' +
      '0161076578616d706c6503636f6d00000100010000003c0004c0000201';
    assert.equal(message.toString('hex'), expected);
    const read = decode(message);
    assert.equal(read.opcode, OPCODE.UPDATE);
    assert.deepEqual(read.question, [{ name: 'example.com.', type: TYPE.SOA, class: CLASS.IN }]);
    const [update] = read.sections[1];
    assert.ok(update);
    assert.deepEqual([update.name, update.ttl, textOf(update)], ['a.example.com.', 60, '192.0.2.1']);
    assert.throws(() => decode(message.subarray(0, -1)), RangeError);
    assert.throws(() => decode(Buffer.concat([message, Buffer.alloc(1)])), RangeError);
    assert.throws(() => decode(Buffer.alloc(3)), RangeError);
  });

  it('leaves out what a server broke', () => {
    const record = encodeRecord({
      name: 'a.test.',
      type: TYPE.NS,
      class: CLASS.IN,
      ttl: 1,
      rdata: Buffer.from('c0ff', 'hex'),
    });
    const head = encode(1, OPCODE.QUERY, { name: 'a.test', type: TYPE.NS });
    head.writeUInt16BE(1, 6);
    const { sections } = decode(Buffer.concat([head, record]));
    assert.equal(sections[0].length, 1);
    assert.deepEqual(readableTexts(sections[0]), []);
  });
});

describe('messages that unfold', () => {
  const long = Buffer.concat([Buffer.from([1, 0x61]), ...Array(125).fill(Buffer.from([1, 0x62])), Buffer.from([0])]);
  const head = encode(1, OPCODE.QUERY, { name: 'z', type: TYPE.NS });
  /** Each behind a label of its own, all with the same 250 octets after it. */
  const message = (count: number, rdata: (i: number) => number[]) => {
    const at = head.length;
    const records = Array.from({ length: count }, (_, i) => {
      const data = i ? Buffer.from(rdata(at + 2)) : Buffer.from([0]);
      const fixed = Buffer.from([0, TYPE.NS, 0, 1, 0, 0, 0, 1, data.length >> 8, data.length & 255]);
      return Buffer.concat([i ? Buffer.from([0xc0 | (at >> 8), at & 255]) : long, fixed, data]);
    });
    const whole = Buffer.concat([head, ...records]);
    whole.writeUInt16BE(count, 6);
    return whole;
  };
  const unlike = (at: number) => [1, 0x63, 0xc0 | (at >> 8), at & 255];

  it('are read where they are asked for only', () => {
    const read = decode(message(4000, unlike));
    assert.equal(read.spent(), 0);
    const name = read.sections[0][0]?.name ?? '';
    assert.equal(name.length, 252);
    const once = read.spent();
    // who has the same name by a pointer to it costs nothing more
    assert.ok(read.sections[0].every((record) => record.name === name));
    assert.equal(read.spent(), once);
  });

  it('are read as far as their bounds let them be', () => {
    const { sections, spent } = decode(message(4000, unlike));
    const readable = () => readableTexts(sections[0]).length;
    const count = readable();
    assert.ok(count > 400 && count < 600, String(count));
    assert.ok(spent() <= ANSWER.octets + 260 * 4000);
    assert.throws(() => textOf(sections[0].at(-1) as ReadRecord), TooMuch);
    assert.throws(() => decode(message(4097, unlike)), TooMuch);
    // all of a message of a transfer, which whoever configured its server trusts
    const whole = decode(message(4097, unlike), TRANSFER);
    assert.equal(readableTexts(whole.sections[0]).length, 4097);
    const questions = Buffer.from(head);
    questions.writeUInt16BE(65535, 4);
    assert.throws(() => decode(questions), /more than one question/);
  });

  it('have no more types in a bitmap than their bounds let them', () => {
    const window = (i: number) => Buffer.concat([Buffer.from([i, 32]), Buffer.alloc(32, 255)]);
    const rdata = Buffer.concat([Buffer.alloc(6), ...Array.from({ length: 256 }, (_, i) => window(i))]);
    const record = encodeRecord({ name: 'z', type: typeNumber('CSYNC'), class: 1, ttl: 1, rdata });
    const whole = Buffer.concat([head, record]);
    whole.writeUInt16BE(1, 6);
    assert.throws(() => textOf(decode(whole).sections[0][0] as ReadRecord), TooMuch);
  });
});

describe('TSIG', () => {
  // what `dig +noedns +nocookie -y` of BIND 9.18 sent with this key, at this time
  const key: TsigKey = {
    name: 'test-key',
    algorithm: 'hmac-sha256',
    secret: Buffer.from('MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', 'base64'),
  };
  const now = 0x6b0049c6;
  const question = '076578616d706c6503636f6d0000060001';
  const mac = '8bccc1a6e1620f0e2f9603afd4cd6aca859ab785542cf7f039b604ff33d998d7';
  const sent = `1e3801200001000000000001${question}08746573742d6b65790000fa00ff00000000003d0b686d61632d7368613235360000006b0049c6012c0020${mac}1e3800000000`;
  const request = Buffer.from(`1e3801200001000000000000${question}`, 'hex');

  it('signs a request as dig does', () => {
    const { signed, mac: ours } = sign(request, key, now);
    assert.equal(signed.toString('hex'), sent);
    assert.equal(ours.toString('hex'), mac);
    assert.equal(
      sign(request, { ...key, name: 'TEST-Key' }, now).mac.toString('hex'),
      mac,
      'names count in lower case',
    );
  });

  /** An answer without the digest of a request before it is signed as a request is. */
  const verifier = (clock = now, other = key) => new TsigVerifier(other, Buffer.alloc(0), () => clock);
  const accept = (v: TsigVerifier, raw: Buffer) => v.accept(raw, decode(raw));
  const signed = Buffer.from(sent, 'hex');

  it('accepts a right signature', () => {
    const v = verifier();
    accept(v, signed);
    v.complete();
    accept(verifier(now + 300), signed);
  });

  it('refuses a changed message, another key, another time, and an answer to another request', () => {
    const changed = Buffer.from(signed);
    changed[15] = (changed[15] as number) ^ 1;
    assert.throws(() => accept(verifier(), changed), { kind: 'auth', mayHaveApplied: true });
    assert.throws(() => accept(verifier(now, { ...key, secret: Buffer.from('other') }), signed), { kind: 'auth' });
    assert.throws(() => accept(verifier(now, { ...key, name: 'other' }), signed), { kind: 'auth' });
    assert.throws(() => accept(verifier(now + 301), signed), { kind: 'auth', message: /clock differs/ });
    const foreign = new TsigVerifier(key, Buffer.alloc(32), () => now);
    assert.throws(() => accept(foreign, signed), { kind: 'auth' });
  });

  it('tells why the server refused the key', () => {
    for (const [code, words] of [
      [16, /tsig_secret/],
      [17, /tsig_name/],
      [18, /clock differs/],
    ] as const) {
      const refused = Buffer.from(signed);
      refused.writeUInt16BE(code, refused.length - 4);
      assert.throws(() => accept(verifier(), refused), { kind: 'auth', message: words, mayHaveApplied: false });
    }
  });

  it('lets at most 99 messages of a transfer go unsigned, never the first or the last', () => {
    assert.throws(() => accept(verifier(), request), { kind: 'unavailable', message: /not signed/ });
    const v = verifier();
    accept(v, signed);
    for (let i = 0; i < 99; i++) accept(v, request);
    assert.throws(() => v.complete(), /not signed/);
    assert.throws(() => accept(v, request), /not signed/);
  });
});
