import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { bareName } from '../../dns/names.js';
import { decode, encode, type Message, OPCODE, questionOf, RCODE, TooMuch, TYPE } from '../../dns/wire.js';
import type { Cidr } from '../common/cidr.js';
import { after, type Cancel, timeLimit, timeoutSignal } from '../common/clock.js';
import { FairPool } from '../common/fair-pool.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { outboundAgent, request } from '../outbound/agent.js';
import { readBody } from '../outbound/body.js';
import { assertUrlAllowed, resolveAllowed } from '../outbound/guard.js';
import { bySystem } from '../outbound/lookup.js';
import { tcpTo, tlsTo, udpFor } from '../outbound/sockets.js';
import type { Effort } from './effort.js';
import { frame, framed } from './stream.js';
import type { Upstream } from './upstream.js';

/** A question in class IN. */
export interface Question {
  /** Absolute name, final dot optional. */
  name: string;
  type: number;
}

export interface Asking {
  /** Ask a recursive resolver, not an authoritative server. */
  recurse: boolean;
  /** Timeout in ms of the whole exchange. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /**
   * See `mayConnect`: given for servers that zone owners may name, omitted for those that administrators configured.
   */
  allow?: readonly Cidr[];
  /** Budget of the zone check that the question belongs to. */
  effort?: Effort;
}

export interface Reply extends Message {
  /** Transport that the answer came over. */
  transport: 'udp' | 'tcp' | 'tls' | 'https';
  /** ms from the first packet to the answer. */
  latencyMs: number;
}

/** A server did not answer, or not with a DNS message; the message is shown to users. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** The server is unroutable from here, which says nothing about its state. */
    readonly noRoute = false,
    /** The answer exceeds the limits of what is read. */
    readonly tooMuch = false,
  ) {
    super(message);
  }
}

/** ms after which a UDP packet is sent again, the first and the second time. */
const AGAIN_MS = [600, 1500];
const MAX_MESSAGE_MIB = 1 / 16;
/** Maximum octets of a UDP answer: three times the advertised size. */
const MAX_PACKET = 4096;
/** Number of packets not matching the question after which it fails. */
const MOST_PACKETS = 100;
const EDNS_UNKNOWN: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.NOTIMP, RCODE.BADVERS]);
const DOH = 'application/dns-message';

/** Sends a request over a transport and returns its matching answer. */
type Carry = (message: Buffer, fits: (raw: Buffer) => Message | null, signal: AbortSignal) => Promise<Message>;

/**
 * Queries DNS servers: UDP, then TCP for truncated answers (RFC 7766); TLS; HTTPS. Configured servers may be on private
 * networks and loopback unless OUTBOUND_DENY forbids it. Answers are untrusted: only as much as `ANSWER` allows is
 * parsed, large ones one after the other.
 */
@Injectable()
export class DnsClient implements OnApplicationShutdown {
  private readonly agent;
  /** Bounds concurrent questions, since each one uses a socket. */
  private readonly pool = new FairPool('DNS questions');

  constructor(@Inject(CONFIG) private readonly config: Config) {
    // some resolvers speak only HTTP/2, which RFC 8484 section 5.2 permits
    this.agent = outboundAgent(config.outboundDeny, 5000, undefined, true);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /**
   * The server's answer, whatever its rcode. A server without EDNS support is asked again without it (RFC 6891).
   * @throws NoAnswer when there is no readable answer in time
   */
  ask(server: Upstream, question: Question, asking: Asking): Promise<Reply> {
    // ends the waits for a slot and for name lookups; a derived signal, since hundreds of questions may listen to one
    const signal = asking.signal && AbortSignal.any([asking.signal]);
    const target = server.url ?? `${server.host} ${server.port}`;
    return this.pool.run({ target }, () => this.now(server, question, asking), signal);
  }

  /**
   * Sends a message by UDP until it is answered.
   * @param fits reads what comes; null: it is no answer to it
   * @throws NoAnswer when there is no readable answer in time
   */
  tell(
    { host, port }: Pick<Upstream, 'host' | 'port'>,
    message: Buffer,
    fits: (raw: Buffer) => Message | null,
    { timeoutMs, allow }: Required<Pick<Asking, 'timeoutMs' | 'allow'>>,
  ): Promise<Message> {
    return this.pool.run({ target: `${host} ${port}` }, async () => {
      const within = timeoutSignal(timeoutMs);
      try {
        const find = (name: string) => bySystem(name, false);
        const address = await resolveAllowed(host, this.config.outboundDeny, allow, find);
        return await overUdp(address, port)(message, fits, within);
      } catch (error) {
        throw new NoAnswer(within.aborted ? `no answer within ${timeoutMs / 1000} s` : wordsOf(error));
      }
    });
  }

  private async now(server: Upstream, question: Question, asking: Asking): Promise<Reply> {
    const { timeoutMs, signal, effort } = asking;
    signal?.throwIfAborted();
    const limit = timeLimit(timeoutMs);
    const within = AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]);
    const begin = performance.now();
    try {
      const first = await this.exchange(server, question, asking, true, within);
      const reply = EDNS_UNKNOWN.has(first.rcode)
        ? await this.exchange(server, question, asking, false, within)
        : first;
      return { ...reply, latencyMs: Math.round(performance.now() - begin) };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limit.signal.aborted) throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`);
      if (error instanceof TooMuch) {
        effort?.cut.add(`${server.host}: ${error.message}`);
        throw new NoAnswer(error.message, false, true);
      }
      throw new NoAnswer(wordsOf(error), NO_ROUTE.has((error as NodeJS.ErrnoException).code ?? ''));
    } finally {
      limit.end();
    }
  }

  private async exchange(
    server: Upstream,
    question: Question,
    { recurse, allow, effort }: Asking,
    edns: boolean,
    signal: AbortSignal,
  ): Promise<Omit<Reply, 'latencyMs'>> {
    // HTTP caches key DNS over HTTPS by the whole message, so the id is 0 (RFC 8484 section 4.1)
    const id = server.transport === 'https' ? 0 : randomInt(65536);
    const message = encode(id, OPCODE.QUERY, question, undefined, { recurse, edns });
    const fits = (raw: Buffer) => answerTo(raw, id, question, effort);
    effort?.asks();
    const { outboundDeny } = this.config;
    if (server.transport === 'https')
      return { ...(await this.overHttps(server.url as string, message, fits, signal)), transport: 'https' };
    const address = await resolveAllowed(server.host, outboundDeny, allow);
    if (server.transport === 'tls')
      return { ...(await stream(() => overTls(server, address))(message, fits, signal)), transport: 'tls' };
    const answer = await overUdp(address, server.port)(message, fits, signal);
    if (!answer.truncated) return { ...answer, transport: 'udp' };
    effort?.asks();
    const whole = await stream(() => tcpTo(address, server.port))(message, fits, signal);
    return { ...whole, transport: 'tcp' };
  }

  private async overHttps(url: string, message: Buffer, fits: (raw: Buffer) => Message | null, signal: AbortSignal) {
    assertUrlAllowed(url, this.config.outboundDeny);
    const headers = { accept: DOH, 'content-type': DOH };
    const answer = await request(url, { method: 'POST', headers, body: message, signal, dispatcher: this.agent });
    const body = await readBody(answer.body, MAX_MESSAGE_MIB);
    await turn();
    if (answer.statusCode !== 200) throw new Error(`HTTP status ${answer.statusCode}`);
    return readable(fits(body));
  }
}

const NO_ROUTE: ReadonlySet<string> = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

const wordsOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof RangeError) return `a broken DNS message: ${message}`;
  if (code === 'ECONNREFUSED') return 'nobody listens there (connection refused)';
  if (NO_ROUTE.has(code ?? '')) return `this machine has no way to it (${code})`;
  return message;
};

/** Parses a message if it answers this question. @throws RangeError when it does but is malformed */
function answerTo(raw: Buffer, id: number, { name, type }: Question, effort?: Effort): Message | null {
  if (raw.length < 12 || raw.readUInt16BE(0) !== id || !(raw.readUInt16BE(2) & 0x8000)) return null;
  const [asked] = questionOf(raw).question;
  if (asked && (bareName(asked.name) !== bareName(name) || asked.type !== type)) return null;
  effort?.receives(raw.length);
  const message = decode(raw);
  // servers may omit the question when they could not parse it
  if (!asked && message.rcode === RCODE.NOERROR) return null;
  try {
    readNeeded(message, type);
  } finally {
    effort?.reads(message);
  }
  return message;
}

/**
 * Reads what callers need of an answer: the answer section with aliases, and referrals with their addresses, so that
 * limits are enforced now. Invalid rdata is skipped later. @throws RangeError
 */
function readNeeded({ sections: [answer, authority, additional], authoritative }: Message, type: number): void {
  const refers = type === TYPE.NS || !authoritative;
  const asked = answer.filter((record) => record.type === type || record.type === TYPE.CNAME);
  const below = authority.filter((record) => record.type === type || record.type === TYPE.NS);
  const glue = additional.filter((record) => refers && [type, TYPE.A, TYPE.AAAA].includes(record.type));
  for (const record of [...asked, ...below, ...glue]) {
    void record.name;
    try {
      void record.text;
    } catch (error) {
      if (error instanceof TooMuch) throw error;
    }
  }
}

let last: Promise<unknown> = Promise.resolve();

/** Yields to the event loop before each large answer, in order of arrival. */
function turn(): Promise<unknown> {
  last = last.then(() => nextTurn());
  return last;
}

function readable(message: Message | null): Message {
  if (!message) throw new Error('it answered something else than what was asked');
  return message;
}

function assertSmall(raw: Buffer): void {
  if (raw.length > MAX_PACKET) throw new TooMuch(`the answer is too large: more than ${MAX_PACKET} octets over UDP`);
}

const overUdp =
  (host: string, port: number): Carry =>
  (message, fits, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const socket = udpFor(host);
      const repeats: Cancel[] = [];
      let packets = 0;
      let ended = false;
      const end = (finish: () => void) => {
        // send errors are also reported after the end
        if (ended) return;
        ended = true;
        for (const cancel of repeats) cancel();
        signal.removeEventListener('abort', abort);
        socket.removeAllListeners().on('error', () => undefined);
        socket.close();
        finish();
      };
      const abort = () => end(() => reject(signal.reason));
      const failed = (error: Error) => end(() => reject(error));
      signal.addEventListener('abort', abort);
      socket.on('error', failed);
      socket.on('message', (raw) => {
        try {
          assertSmall(raw);
          const answer = fits(raw);
          // a packet that does not match may be spoofed: the answer may still come
          if (answer) end(() => resolve(answer));
          else if (++packets > MOST_PACKETS) failed(new Error('it sends packets that answer nothing'));
        } catch (error) {
          failed(error as Error);
        }
      });
      // a connected socket accepts packets of that server only and reports "port unreachable"
      socket.connect(port, host, (error?: Error) => {
        if (error) return failed(error);
        const send = () => socket.send(message, (error) => error && failed(error));
        send();
        for (const ms of AGAIN_MS) repeats.push(after(ms, send));
      });
    });

function overTls({ host, port }: Upstream, address: string): Socket {
  return tlsTo(address, port, { ...(isIP(host) ? {} : { servername: host }), ALPNProtocols: ['dot'] });
}

const stream =
  (open: () => Socket): Carry =>
  async (message, fits, signal) => {
    signal.throwIfAborted();
    const socket = open();
    const abort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort);
    try {
      socket.write(frame(message));
      for await (const raw of framed(socket, 60_000)) {
        if (raw.length > MAX_PACKET) await turn();
        return readable(fits(raw));
      }
      throw new Error('it closed the connection without an answer');
    } finally {
      signal.removeEventListener('abort', abort);
      socket.on('error', () => undefined).destroy();
    }
  };
