import assert from 'node:assert/strict';
import { createSocket, Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import packet, { type DecodedPacket } from 'dns-packet';
import { ANSWER, RCODE, TYPE, textOf } from '../../src/dns/wire.js';
import { parseConfig } from '../../src/platform/config/config.js';
import { DnsClient, NoAnswer } from '../../src/platform/dns-client/dns-client.service.js';
import { type Bound, Effort, ROUND, SURVEY } from '../../src/platform/dns-client/effort.js';
import { upstreamOf, upstreamText } from '../../src/platform/dns-client/upstream.js';
import { sleep } from '../support/sleep.js';

/** ms between two pieces of an answer */
const BETWEEN_MS = 5;

const QUESTION = { name: 'www.Example.test', type: TYPE.A };
const A = { type: 'A', name: 'www.example.test', ttl: 60, data: '192.0.2.1' } as const;

/** What a server answers to a request, by UDP or TCP: messages, in this order. */
type Script = (asked: DecodedPacket, tcp: boolean) => Buffer[];

const answer = (asked: DecodedPacket, more: Partial<Parameters<typeof packet.encode>[0]> = {}, flags = 0) =>
  packet.encode({
    type: 'response',
    id: asked.id,
    flags: packet.AUTHORITATIVE_ANSWER | flags,
    questions: asked.questions,
    answers: [A],
    ...more,
  });

describe('questions to a name server', () => {
  const client = new DnsClient(parseConfig({ DATA_DIR: '/nowhere' }));
  const udp = createSocket('udp4');
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      for (const message of script(packet.decode(chunk.subarray(2)), true)) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(message.length);
        // in pieces, as networks do
        socket.write(Buffer.concat([length, message.subarray(0, 5)]));
        void sleep(BETWEEN_MS).then(() => socket.end(message.subarray(5)));
      }
    });
  });
  let script: Script;
  let seen: DecodedPacket[];
  let port: number;

  beforeAll(async () => {
    await new Promise<void>((bound) => tcp.listen(0, '127.0.0.1', bound));
    ({ port } = tcp.address() as AddressInfo);
    await new Promise<void>((bound) => udp.bind(port, '127.0.0.1', bound));
    udp.on('message', (raw, from) => {
      const asked = packet.decode(raw);
      seen.push(asked);
      for (const message of script(asked, false)) udp.send(message, from.port, from.address);
    });
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    udp.close();
    await new Promise((closed) => tcp.close(closed));
    await client.onApplicationShutdown();
  });

  const ask = (recurse = false, timeoutMs = 3000, signal?: AbortSignal) =>
    client.ask({ transport: 'plain', host: '127.0.0.1', port, url: null }, QUESTION, { recurse, timeoutMs, signal });

  it('asks authoritative servers without RD, resolvers with it, both with EDNS', async () => {
    script = (asked) => [answer(asked)];
    const reply = await ask();
    assert.deepEqual([reply.transport, reply.rcode, reply.authoritative], ['udp', RCODE.NOERROR, true]);
    assert.deepEqual(reply.sections[0].map(textOf), ['192.0.2.1']);
    await ask(true);
    assert.deepEqual(
      seen.map((asked) => [Boolean(asked.flag_rd), asked.additionals?.[0]?.type]),
      [
        [false, 'OPT'],
        [true, 'OPT'],
      ],
    );
  });

  it('takes a cut answer again over TCP', async () => {
    script = (asked, overTcp) => [
      overTcp
        ? answer(asked, { answers: [A, { ...A, data: '192.0.2.2' }] })
        : answer(asked, { answers: [] }, packet.TRUNCATED_RESPONSE),
    ];
    const reply = await ask();
    assert.deepEqual([reply.transport, reply.sections[0].length], ['tcp', 2]);
  });

  it('asks without EDNS where that is not known, and reads extended rcodes', async () => {
    script = (asked) => [asked.additionals?.length ? answer(asked, { answers: [] }, RCODE.FORMERR) : answer(asked)];
    assert.equal((await ask()).rcode, RCODE.NOERROR);
    // BADVERS: the upper bits are in the OPT record
    script = (asked) => {
      if (!asked.additionals?.length) return [answer(asked)];
      const opt = {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        extendedRcode: 1,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      };
      return [answer(asked, { answers: [], additionals: [opt as never] })];
    };
    assert.equal((await ask()).rcode, RCODE.NOERROR);
    assert.equal(seen.length, 4);
  });

  it('passes over answers to somebody else, and takes the one to it', async () => {
    script = (asked) => [
      answer({ ...asked, id: (asked.id as number) ^ 1 }, { answers: [{ ...A, data: '203.0.113.1' }] }),
      answer(asked, { questions: [{ type: 'A', name: 'other.test' }], answers: [{ ...A, data: '203.0.113.2' }] }),
      Buffer.from('no DNS'),
      answer(asked),
    ];
    assert.deepEqual((await ask()).sections[0].map(textOf), ['192.0.2.1']);
  });

  it('sends again what gets lost', async () => {
    script = (asked) => (seen.length < 2 ? [] : [answer(asked)]);
    assert.equal((await ask()).rcode, RCODE.NOERROR);
    assert.ok(seen.length >= 2);
  });

  it('says why there is no answer', async () => {
    script = () => [];
    await assert.rejects(ask(false, 100), (error) => error instanceof NoAnswer && /within 0\.1 s/.test(error.message));
    script = (asked) => [answer(asked).subarray(0, -3)];
    await assert.rejects(ask(), /broken DNS message/);
    const gone = new AbortController();
    const asking = ask(false, 3000, gone.signal);
    script = () => [];
    gone.abort(new Error('gone'));
    await assert.rejects(asking, /gone/);
    const nobody = { transport: 'plain', host: '127.0.0.1', port: 1, url: null } as const;
    await assert.rejects(client.ask(nobody, QUESTION, { recurse: false, timeoutMs: 3000 }), /refused/);
    const never = { ...nobody, host: '169.254.169.254' };
    await assert.rejects(client.ask(never, QUESTION, { recurse: false, timeoutMs: 3000 }), /not allowed/);
  });

  it('gives up a server that floods it with packets, or sends one that is larger than was offered', async () => {
    script = (asked) => Array.from({ length: 101 }, () => answer({ ...asked, id: (asked.id as number) ^ 1 }));
    await assert.rejects(ask(), /packets that answer nothing/);
    script = (asked) => [answer(asked, { answers: Array(300).fill(A) })];
    await assert.rejects(ask(), { tooMuch: true, message: /more than 4096 octets over UDP/ });
  });

  it('reads large answers in turns of the event loop, each in its own', async () => {
    const turned: number[] = [];
    let turns = 0;
    let ticking = true;
    const tick = () => {
      turns++;
      if (ticking) setImmediate(tick);
    };
    const many = Array(1000).fill(A);
    script = (asked, overTcp) => [
      overTcp ? answer(asked, { answers: many }) : answer(asked, { answers: [] }, packet.TRUNCATED_RESPONSE),
    ];
    setImmediate(tick);
    try {
      const asked = Array.from({ length: 30 }, () => ask().then(() => turned.push(turns)));
      await Promise.all(asked);
    } finally {
      ticking = false;
    }
    assert.equal(new Set(turned).size, 30, turned.join(' '));
  });

  it('asks and reads no more than one look may take', async () => {
    script = (asked) => [answer(asked)];
    const upstream = { transport: 'plain', host: '127.0.0.1', port, url: null } as const;
    const bound = { messages: 9, octets: 9999, records: 99, names: 999 };
    const refused: [Partial<Bound>, number, RegExp][] = [
      [{ messages: 2 }, 2, /more than 2 questions/],
      [{ records: 4 }, 5, /more than 4 records/],
      [{ octets: 100 }, 2, /more than 100 octets of answers/],
      [{ names: 20 }, 2, /more than 20 octets of names/],
    ];
    for (const [less, sent, words] of refused) {
      seen = [];
      const effort = new Effort({ ...bound, ...less });
      const look = () => client.ask(upstream, QUESTION, { recurse: false, timeoutMs: 3000, effort });
      for (let i = 0; i < 8; i++) await look().catch((error) => assert.match(error.message, words));
      assert.equal(seen.length, sent, String(words));
      assert.equal(effort.cut.size, 1);
      assert.match([...effort.cut].join(), words);
    }
  });

  it('fails once where several packets could not be sent', async () => {
    const { send } = Socket.prototype;
    const thrown: unknown[] = [];
    Socket.prototype.send = ((_: Buffer, sent: (error: Error) => void) => {
      // the second is told when the socket is closed
      const tell = (words: string) => {
        try {
          sent(new Error(words));
        } catch (error) {
          thrown.push(error);
        }
      };
      setImmediate(() => ['not sent', 'canceled'].forEach(tell));
    }) as never;
    try {
      await assert.rejects(ask(), { message: 'not sent' });
      assert.deepEqual(thrown, []);
    } finally {
      Socket.prototype.send = send;
    }
  });

  it('knows the ways in which a server is named', () => {
    const right = [
      ['192.0.2.1', 'plain', '192.0.2.1', 53],
      ['192.0.2.1:5353', 'plain', '192.0.2.1', 5353],
      ['2001:db8::1', 'plain', '2001:db8::1', 53],
      ['[2001:db8::1]:5353', 'plain', '2001:db8::1', 5353],
      ['tls://dns.example', 'tls', 'dns.example', 853],
      ['tls://192.0.2.1:8853', 'tls', '192.0.2.1', 8853],
      ['https://dns.example/dns-query', 'https', 'dns.example', 443],
    ] as const;
    for (const [text, transport, host, at] of right) {
      const server = upstreamOf(text);
      assert.deepEqual([server?.transport, server?.host, server?.port], [transport, host, at], text);
      assert.equal(server && upstreamText(server), text);
    }
    const wrong = [
      '',
      'dns.example',
      'dns.example:53',
      'tls://',
      'tls://a/b',
      'http://dns.example',
      'https://u:p@a/',
      '1.2.3',
      'a b',
      '192.0.2.1/x',
    ];
    for (const text of wrong) assert.equal(upstreamOf(text), null, text);
  });
});

it('docs/watching.md says how much is read, as it is', () => {
  const page = readFileSync('docs/watching.md', 'utf8');
  const rows = page.slice(page.indexOf('## Limits')).matchAll(/^\| ([^|]+) \| ([\d, ;]+) \| (\w+) \|$/gm);
  const said = [...rows].map(([, , numbers]) => Number(numbers));
  const { messages, octets, records, names } = SURVEY;
  const round = ROUND;
  assert.deepEqual(said.slice(0, 2), [ANSWER.records, ANSWER.octets]);
  assert.deepEqual(said.slice(5, 9), [messages, octets, records, names]);
  assert.deepEqual(said.slice(9, 13), [round.messages, round.octets, round.records, round.names]);
});
