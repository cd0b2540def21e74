import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { StoredRecord } from '../../src/cache/record-cache.js';
import { FUDGE_SECONDS, hmac, sign, type TsigKey, time48, u16, variables } from '../../src/dns/tsig.js';
import { CLASS, decode, encode, OPCODE, RCODE, TRANSFER, TYPE, type WireRecord } from '../../src/dns/wire.js';
import { nameToWire, rdataToText, rdataToWire, typeNumber } from '../../src/dns/wire-rdata.js';
import type { OpenDomain } from '../../src/domains/domain-policy.js';
import { type Backend, type DnsCaller, DnsMessages, type From } from '../../src/doors/rfc2136/dns-messages.js';
import { DnsFault } from '../../src/doors/rfc2136/dns-request.js';
import { editsOf } from '../../src/doors/rfc2136/edits-of-update.js';
import { readUpdate } from '../../src/doors/rfc2136/update.js';
import { errors } from '../../src/platform/common/errors.js';
import { OutboundError } from '../../src/platform/outbound/outbound-error.js';
import type { ProviderDefinition } from '../../src/providers/provider.js';
import { providerOf } from '../../src/providers/registry.js';
import { Dice } from '../random/dice.js';
import { extendedError } from '../support/dns-messages.js';
import { row } from '../support/rows.js';

/** How many messages are sent; more of them: FUZZ=100000 npx jest test/unit/dns-messages */
const MESSAGES = Number(process.env.FUZZ ?? 12_000);
const SEED = Number(process.env.FUZZ_SEED ?? 2136);

const ZONE = 'example.com';
const KEY: TsigKey = { name: 'key.example', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 7) };
const NOW = () => Math.floor(Date.now() / 1000);

const record = (host: string, type: string, rdata: string, more: Partial<WireRecord> = {}): WireRecord => ({
  name: `${host}.${ZONE}.`,
  type: typeNumber(type),
  class: CLASS.IN,
  ttl: 300,
  rdata: rdata ? rdataToWire(type, rdata) : Buffer.alloc(0),
  ...more,
});
const empty = (host: string, type: number, of: number): WireRecord => ({
  ...{ name: `${host}.${ZONE}.`, type, class: of, ttl: 0, rdata: Buffer.alloc(0) },
});

const SOA = rdataToWire('SOA', 'ns.example. hostmaster.example. 7 1 1 1 1');
const soa: WireRecord = { name: `${ZONE}.`, type: TYPE.SOA, class: CLASS.IN, ttl: 60, rdata: SOA };

const SERVICE =
  '1 svc.example. mandatory=alpn,port alpn=h2,h3 no-default-alpn port=8443 ipv4hint=192.0.2.1 ech=AAEC ipv6hint=2001:db8::1 dohpath=/q{?dns}';
const PLACE = '52 22 23.000 N 4 53 32.000 E -2.00m';

/** What well-formed clients send. */
const CORPUS: Buffer[] = [
  encode(1, OPCODE.QUERY, { name: ZONE, type: TYPE.SOA }),
  encode(2, OPCODE.QUERY, { name: `www.${ZONE}`, type: TYPE.SOA }, undefined, { edns: true }),
  encode(3, OPCODE.QUERY, { name: ZONE, type: TYPE.AXFR }, undefined, { edns: true }),
  encode(4, OPCODE.QUERY, { name: ZONE, type: TYPE.IXFR }, [[], [soa]]),
  encode(5, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [[], [record('a', 'A', '192.0.2.1')]]),
  encode(6, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [
    [
      empty('a', TYPE.ANY, CLASS.ANY),
      empty('b', TYPE.ANY, CLASS.NONE),
      empty('a', TYPE.A, CLASS.ANY),
      empty('a', TYPE.AAAA, CLASS.NONE),
      record('a', 'A', '192.0.2.9', { ttl: 0 }),
    ],
    [
      empty('a', TYPE.ANY, CLASS.ANY),
      empty('b', TYPE.A, CLASS.ANY),
      record('a', 'TXT', '"one" "two"'),
      record('a', 'TXT', '"one"', { ttl: 0, class: CLASS.NONE }),
      record('m', 'MX', '10 mail.example.'),
      record('s', 'SRV', '1 2 3 target.example.'),
      record('d', 'DHCID', 'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='),
      record('c', 'CNAME', 'a.example.'),
      record('x', 'CAA', '0 issue "ca.example"'),
    ],
  ]),
  encode(7, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [
    [],
    Array.from({ length: 300 }, (_, i) => record(`h${i}`, 'AAAA', `2001:db8::${i.toString(16)}`)),
  ]),
  encode(8, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [
    [record('w', 'HTTPS', SERVICE, { ttl: 0 }), record('l', 'LOC', PLACE, { ttl: 0 })],
    [
      record('w', 'HTTPS', SERVICE),
      record('w', 'SVCB', '1 . alpn="f\\\\oo\\,bar" key667="\\255 "'),
      record('l', 'LOC', PLACE, { ttl: 0, class: CLASS.NONE }),
      record('c', 'CSYNC', '1 3 A NS AAAA'),
    ],
  ]),
];

const domain = {
  ...{ id: 1, name: ZONE, provider: 'powerdns', access: { level: 2, hosts: [], rules: null } },
} as unknown as OpenDomain;
const place = { definition: providerOf('powerdns') as ProviderDefinition, zone: ZONE, defaultTtl: 600 };
const rows = [
  row(1, { host: 'a', type: 'A', value: '192.0.2.9' }),
  row(2, { host: 'a', type: 'TXT', value: 'one' }),
  row(3, { host: '@', type: 'NS', value: 'ns.example' }),
];

/** All that is answered without a database; it counts what is asked of it. */
class Memory implements Backend {
  updates = 0;
  transfers = 0;
  failures: unknown[] = [];
  /** what updates are refused with */
  refusal: Error | null = null;
  /** the ends of the signatures of updates */
  ends: number[] = [];

  isOpen = async () => true;
  key = async (name: string) => (name === KEY.name ? { ...KEY, tokenId: 1 } : null);
  isFlooded = false;
  /** how often strangers were counted, and how often a zone was looked for */
  strangers = 0;
  looks = 0;
  isStrangerRefused = async () => {
    this.strangers++;
    return this.isFlooded;
  };
  caller = (ip: string): DnsCaller => ({ ip, userAgent: '', requestId: '', principal: null, door: 'rfc2136' });
  /** the changes that were counted */
  counted: number[] = [];
  letIn = async (_me: DnsCaller, _tokenId: number, changes: number) => {
    this.counted.push(changes);
    return true;
  };
  soaAbove = async (name: string) => {
    this.looks++;
    return name === ZONE || name.endsWith(`.${ZONE}`) ? soa : null;
  };
  soaOf = async () => soa;
  broken = (error: unknown) => void this.failures.push(error);

  async update(...[, zone, { message }, once]: Parameters<Backend['update']>): Promise<void> {
    this.updates++;
    this.ends.push(once.until);
    if (this.refusal) throw this.refusal;
    if (zone !== ZONE) throw new DnsFault(RCODE.NOTAUTH, 'no zone of ours');
    await editsOf(place, domain, await readUpdate(message, ZONE), rows, () => true);
  }

  async *transfer(): AsyncGenerator<WireRecord[]> {
    this.transfers++;
    yield [soa, record('a', 'A', '192.0.2.1')];
    yield [soa];
  }
}

const signed = (message: Buffer): Buffer => sign(message, KEY, NOW()).signed;

/** One way of spoiling a message. */
function spoilt(good: Buffer, dice: Dice): Buffer {
  const bytes = Buffer.from(good);
  const number = (below: number) => dice.int(0, below - 1);
  const at = () => number(Math.max(1, bytes.length));
  switch (number(9)) {
    case 0:
      return bytes.subarray(0, number(bytes.length + 1));
    case 1:
      for (let i = number(8); i >= 0; i--) bytes.writeUInt8(number(256), at());
      return bytes;
    case 2:
      bytes.writeUInt8(bytes.readUInt8(2) ^ (1 << number(8)), 2);
      return bytes;
    case 3:
      // counts that are not true
      bytes.writeUInt16BE(number(4) ? number(16) : number(65_536), 4 + 2 * number(4));
      return bytes;
    case 4:
      return Buffer.concat([bytes, Buffer.alloc(number(600), number(256))]);
    case 5: {
      const [from, size] = [at(), number(40)];
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from, from + size), bytes.subarray(from)]);
    }
    case 6:
      // pointers to anywhere
      if (bytes.length > 14) bytes.writeUInt16BE(0xc000 + number(bytes.length + 20), 12 + number(bytes.length - 13));
      return bytes;
    case 7: {
      const from = at();
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + number(12))]);
    }
    default:
      return Buffer.from(Array.from({ length: number(200) }, () => number(256)));
  }
}

async function answersTo(handler: DnsMessages, raw: Buffer, isTcp: boolean): Promise<Buffer[]> {
  const from: From = { ip: '192.0.2.1', isTcp, gone: () => false };
  const answers: Buffer[] = [];
  for await (const answer of handler.answers(Buffer.from(raw), from)) answers.push(answer);
  return answers;
}

const UPDATE = CORPUS[4] as Buffer;

/** A message with a TSIG record whose fudge is another one than `sign` gives. */
function signedFor(message: Buffer, time: number, fudge: number): Buffer {
  const [name, algorithm] = [nameToWire(KEY.name), nameToWire('hmac-sha256')];
  const mac = hmac(KEY, [message, variables(KEY, time48(time), fudge, 0, Buffer.alloc(0))]);
  const rdata = [algorithm, time48(time), u16(fudge, mac.length), mac, message.subarray(0, 2), u16(0, 0)];
  const fixed = [u16(TYPE.TSIG, CLASS.ANY, 0, 0, Buffer.concat(rdata).length)];
  const whole = Buffer.concat([message, name, ...fixed, ...rdata]);
  whole.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return whole;
}

describe('the answers to DNS messages', () => {
  it('know an update for as long as its signature counts, to the end of its last second', async () => {
    const backend = new Memory();
    const time = NOW();
    for (const fudge of [60, FUDGE_SECONDS, 65_535])
      for (const answer of await answersTo(new DnsMessages(backend), signedFor(UPDATE, time, fudge), true))
        assert.equal(decode(answer).rcode, RCODE.NOERROR);
    assert.deepEqual(backend.ends, [time + 61, time + FUDGE_SECONDS + 1, time + FUDGE_SECONDS + 1]);
  });

  it('have the ids of those that asked, of all that send one update at once', async () => {
    const handler = new DnsMessages(new Memory());
    const update = signed(UPDATE);
    const ids = [11, 12, 13];
    const answers = ids.map((id) => {
      const raw = Buffer.from(update);
      raw.writeUInt16BE(id, 0);
      return answersTo(handler, raw, true);
    });
    assert.deepEqual(
      (await Promise.all(answers)).flat().map((answer) => answer.readUInt16BE(0)),
      ids,
    );
  });

  it('say SERVFAIL for what passes by itself or may have been done, and REFUSED for what does not', async () => {
    const backend = new Memory();
    const handler = new DnsMessages(backend);
    const said: [string, number | undefined][] = [];
    for (const error of [
      errors.conflict('busy'),
      errors.conflict('in_flight_now', { name: ZONE }),
      errors.conflict('record_unclear'),
      new OutboundError('unavailable', 'HTTP 503', false),
      new OutboundError('rate_limit', 'HTTP 429'),
      new OutboundError('rejected', 'HTTP 422, after a change before it', true),
      errors.conflict('domain_exists', { name: ZONE }),
      new OutboundError('rejected', 'HTTP 422'),
      new OutboundError('auth', 'HTTP 401'),
    ]) {
      backend.refusal = error;
      const [answer] = await answersTo(handler, sign(UPDATE, KEY, NOW() - said.length).signed, true);
      said.push([String((error.data as { reason: string }).reason), answer && decode(answer).rcode]);
    }
    const { SERVFAIL, REFUSED } = RCODE;
    const passing = ['busy', 'in_flight_now', 'record_unclear', 'provider_unavailable', 'provider_rate_limit'];
    const lasting = ['domain_exists', 'provider_rejected', 'provider_auth'];
    assert.deepEqual(said, [
      ...[...passing, 'provider_rejected'].map((reason) => [reason, SERVFAIL]),
      ...lasting.map((reason) => [reason, REFUSED]),
    ]);
  });

  it('cut the words of a refusal between two characters', async () => {
    const backend = new Memory();
    const words = `${'a'.repeat(399)}ü and more`;
    backend.refusal = new DnsFault(RCODE.REFUSED, words);
    const update = encode(9, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [[], []], { edns: true });
    const [answer] = await answersTo(new DnsMessages(backend), signed(update), true);
    assert.equal(answer && extendedError(answer)?.text, 'a'.repeat(399));
  });

  it('are none for strangers that sent too much, before any work is done, and for old signatures of theirs', async () => {
    const backend = new Memory();
    const handler = new DnsMessages(backend);
    const [question] = CORPUS as [Buffer];
    const old = sign(UPDATE, KEY, NOW() - 3600).signed;
    const codes = async () => {
      const answers = [...(await answersTo(handler, question, false)), ...(await answersTo(handler, old, false))];
      return answers.map((answer) => decode(answer).rcode);
    };
    assert.deepEqual(await codes(), [RCODE.NOERROR, RCODE.NOTAUTH]);
    assert.deepEqual([backend.strangers, backend.looks], [2, 1]);
    backend.isFlooded = true;
    assert.deepEqual(await codes(), []);
    assert.deepEqual([backend.strangers, backend.looks], [4, 1]);
    const [answer] = await answersTo(handler, signed(question), false);
    assert.equal(answer && decode(answer).rcode, RCODE.NOERROR);
    assert.equal(backend.strangers, 4);
  });
});

describe('the prerequisites of an update', () => {
  it('are counted as its changes are', async () => {
    const backend = new Memory();
    for (const message of CORPUS.slice(4, 6)) await answersTo(new DnsMessages(backend), signed(message), true);
    assert.deepEqual(backend.counted, [1, 14]);
  });

  it('are judged with few looks at each record', async () => {
    const most = 400;
    let looks = 0;
    const counting = (of: StoredRecord) =>
      new Proxy(of, {
        get(target, field) {
          looks++;
          return Reflect.get(target, field);
        },
      });
    const addresses = Array.from({ length: most }, (_, i) => `2001:db8::${(i + 1).toString(16)}`);
    const oneSet = addresses.map((value, i) => counting(row(i + 1, { host: 'set', type: 'AAAA', value })));
    const manyNames = addresses.map((value, i) => counting(row(i + 1, { host: `h${i}`, type: 'AAAA', value })));
    for (const [there, hostOf] of [
      [oneSet, () => 'set'],
      [manyNames, (i: number) => `h${i}`],
    ] as const) {
      const first = addresses.map((value, i) => record(hostOf(i), 'AAAA', value, { ttl: 0 }));
      const message = encode(1, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [first, []]);
      looks = 0;
      assert.deepEqual(
        await editsOf(place, domain, await readUpdate(decode(message, TRANSFER), ZONE), there, () => true),
        [],
      );
      assert.ok(looks < 40 * most, `${looks} looks`);
      const other = await readUpdate(decode(message, TRANSFER), ZONE);
      await assert.rejects(
        editsOf(place, domain, other, there.slice(1), () => true),
        { rcode: RCODE.NXRRSET },
      );
    }
  });
});

describe('the data of services and places', () => {
  it('is the same however it is written and stored', async () => {
    const stored = [
      row(1, { host: 'w', type: 'HTTPS', value: '1 svc.example port=8443 alpn=h2', ttl: 300 }),
      row(2, { host: 'w', type: 'HTTPS', value: '2 . ipv6hint=2001:DB8:0::1', ttl: 300, enabled: false }),
      row(3, { host: 'l', type: 'LOC', value: '1 0 0.000 N 2 0 0.000 E 3.00m 1.50m 10000.00m 10.00m' }),
    ];
    const edited = async (prerequisites: WireRecord[], steps: WireRecord[]) => {
      const message = encode(1, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [prerequisites, steps]);
      return editsOf(place, domain, await readUpdate(decode(message, TRANSFER), ZONE), stored, () => true);
    };
    const gone = { ttl: 0, class: CLASS.NONE };
    const [first, second] = ['1 svc.example. alpn=h2 port=8443', '2 . ipv6hint=2001:db8::1'];
    const held = record('w', 'HTTPS', first, { ttl: 0 });
    assert.deepEqual(await edited([held, record('l', 'LOC', '1 N 2 E 3m', { ttl: 0 })], []), []);
    assert.deepEqual(await edited([], [record('w', 'HTTPS', first, gone), record('l', 'LOC', '1 N 2 E 3m', gone)]), [
      { op: 'delete', id: 1 },
      { op: 'delete', id: 3 },
    ]);
    // by the value that is stored, or it would be one more
    const made = await edited([], [record('w', 'HTTPS', first, { ttl: 60 }), record('w', 'HTTPS', second)]);
    assert.deepEqual(
      made.map((edit) => ['record' in edit && edit.record.value, edit.op]),
      stored.slice(0, 2).map(({ value }) => [value, 'upsert']),
    );
    await assert.rejects(edited([record('w', 'HTTPS', '1 svc.example. alpn=h3', { ttl: 0 })], []), {
      rcode: RCODE.NXRRSET,
    });
  });

  const [service, location] = [rdataToWire('HTTPS', SERVICE), rdataToWire('LOC', PLACE)];
  const update = async (rdata: Buffer, type: string) => {
    const one = { ...record('w', type, ''), rdata };
    const message = encode(9, OPCODE.UPDATE, { name: ZONE, type: TYPE.SOA }, [[], [one]]);
    const backend = new Memory();
    const [answer] = await answersTo(new DnsMessages(backend), signed(message), true);
    assert.deepEqual(backend.failures, []);
    return answer && decode(answer).rcode;
  };

  it('is taken, or the update is a FORMERR', async () => {
    assert.deepEqual([await update(service, 'HTTPS'), await update(location, 'LOC')], [RCODE.NOERROR, RCODE.NOERROR]);
    const dice = new Dice(SEED);
    const seen = new Set<number | undefined>();
    for (let i = 0; i < 3000; i++) {
      const [good, type] = dice.chance(0.8) ? [service, dice.of(['HTTPS', 'SVCB'])] : [location, 'LOC'];
      const rdata = spoilt(good, dice);
      const words = `${type} ${rdata.toString('hex')}`;
      const rcode = await update(rdata, type);
      seen.add(rcode);
      // what is read is written again as what it is read as
      const text = readOf(type, rdata);
      if (text === null) assert.equal(rcode, RCODE.FORMERR, words);
      else assert.equal(readOf(type, rdataToWire(type, text)), text, words);
    }
    for (const rcode of [RCODE.NOERROR, RCODE.FORMERR]) assert.ok(seen.has(rcode), [...seen].join());
  });
});

/** Rdata in presentation form; null when it is malformed. */
function readOf(type: string, rdata: Buffer): string | null {
  try {
    return rdataToText(type, rdata, 0, rdata.length);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Codes that a message can get. */
const KNOWN: ReadonlySet<number> = new Set(Object.values(RCODE));

describe('messages that nobody should send', () => {
  it(`get an answer or silence, ${MESSAGES} of them`, async () => {
    const dice = new Dice(SEED);
    const backend = new Memory();
    const handler = new DnsMessages(backend);
    let longest = 0;
    const seen = new Map<string, number>();
    for (let i = 0; i < MESSAGES; i++) {
      const good = dice.of(CORPUS);
      // unsigned, signed and then spoilt, spoilt and then signed: the last ones get past the signature
      const way = dice.int(0, 2);
      let raw = way === 1 ? spoilt(signed(good), dice) : spoilt(good, dice);
      if (way === 2 && raw.length >= 12) raw = signed(raw);
      const before = backend.updates + backend.transfers;
      const isTcp = dice.chance(0.5);
      const begun = performance.now();
      const answers = await answersTo(handler, raw, isTcp);
      longest = Math.max(longest, performance.now() - begun);
      const words = `message ${i} of seed ${SEED}: ${raw.toString('hex').slice(0, 400)}`;
      // what the signature covers, but for the id; the name of the key may be in capitals
      const isIntact = way === 1 && raw.subarray(2, good.length).equals(signed(good).subarray(2, good.length));
      const isForged = way < 2 && !isIntact;
      if (isForged) assert.equal(backend.updates + backend.transfers, before, `carried out unsigned: ${words}`);
      if (isForged || !isTcp) assert.ok(answers.length <= 1, words);
      for (const answer of answers) {
        const said = decode(answer);
        assert.ok(said.response && said.id === raw.readUInt16BE(0) && KNOWN.has(said.rcode), words);
        assert.equal(answer.readUInt8(2) & 0x78, raw.readUInt8(2) & 0x78, words);
        if (isForged) assert.ok(answer.length <= raw.length + 160, `${answer.length} octets: ${words}`);
        if (!isTcp) assert.ok(answer.length <= 1232, words);
        seen.set(`${way} ${said.rcode}`, (seen.get(`${way} ${said.rcode}`) ?? 0) + 1);
      }
      if (!answers.length) {
        const isMeantToBe = raw.length < 12 || (raw.readUInt8(2) & 0x80) !== 0;
        assert.ok(isMeantToBe, `no answer: ${words}`);
        seen.set(`${way} silence`, (seen.get(`${way} silence`) ?? 0) + 1);
      }
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(backend.failures, []);
    // each of them was reached by some message
    for (const what of ['0 1', '0 4', '0 5', '1 1', '1 9', '2 0', '2 1', '2 10', '0 silence'])
      assert.ok(seen.has(what), `${what} of ${[...seen.keys()]}`);
    const counts = JSON.stringify(Object.fromEntries(seen));
    process.stderr.write(`${MESSAGES} messages: ${counts}; the longest took ${longest.toFixed(1)} ms\n`);
  }, 600_000);
});
