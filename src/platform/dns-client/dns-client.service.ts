import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { bareName } from '../../dns/names.js';
import { decode, encode, type Message, OPCODE, questionOf, RCODE, TooMuch, TYPE } from '../../dns/wire.js';
import type { Cidr } from '../common/cidr.js';
import { FairPool } from '../common/fair-pool.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { outboundAgent, request } from '../outbound/agent.js';
import { readBody } from '../outbound/body.js';
import { assertUrlAllowed, resolveAllowed } from '../outbound/guard.js';
import { tcpTo, tlsTo, udpFor } from '../outbound/sockets.js';
import type { Effort } from './effort.js';
import { frame, framed } from './stream.js';
import type { Upstream } from './upstream.js';

/** What is asked for, in class IN. */
export interface Question {
  /** absolute, final dot optional */
  name: string;
  type: number;
}

export interface Asking {
  /** of a resolver, not of an authoritative server */
  recurse: boolean;
  /** ms for everything */
  timeoutMs: number;
  signal?: AbortSignal;
  /**
   * as of `mayConnect`: given, for servers that whoever keeps a zone may name; left out, for those that administrators
   * configured
   */
  allow?: readonly Cidr[];
  /** of the look at a zone that the question belongs to */
  effort?: Effort;
}

export interface Reply extends Message {
  /** by which the answer came */
  transport: 'udp' | 'tcp' | 'tls' | 'https';
  /** ms from the first packet to the answer */
  latencyMs: number;
}

/** A server did not answer, or not with a DNS message. Words for people. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** nothing can be sent there from here: it says nothing of the server */
    readonly noRoute = false,
    /** it answers with more than is read */
    readonly tooMuch = false,
  ) {
    super(message);
  }
}

/** ms until a packet that may be lost is sent again, for the first and the second time */
const AGAIN_MS = [600, 1500];
const MAX_MESSAGE_MIB = 1 / 16;
/** octets of an answer by UDP: three times what the question offers */
const MAX_PACKET = 4096;
/** packets that are none of the answer, before it is given up */
const MOST_PACKETS = 100;
const EDNS_UNKNOWN: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.NOTIMP, RCODE.BADVERS]);
const DOH = 'application/dns-message';

/** A way to a server: carries a request there, and the one answer to it back. */
type Carry = (message: Buffer, fits: (raw: Buffer) => Message | null, signal: AbortSignal) => Promise<Message>;

/**
 * Asks DNS servers: UDP, then TCP where the answer is cut (RFC 7766); TLS; HTTPS. Those that administrators configured
 * may be on private networks and loopback, as far as OUTBOUND_DENY does not forbid it. Answers are foreign: no more of
 * one is read than `ANSWER` says, and large ones take turns.
 */
@Injectable()
export class DnsClient implements OnApplicationShutdown {
  private readonly agent;
  /** each question has a socket */
  private readonly pool = new FairPool('DNS questions');

  constructor(@Inject(CONFIG) private readonly config: Config) {
    // some resolvers speak HTTP/2 only, as RFC 8484 section 5.2 lets them
    this.agent = outboundAgent(config.outboundDeny, 5000, undefined, true);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /**
   * The server's answer, whatever its rcode. A server that does not know EDNS is asked again without (RFC 6891).
   * @throws NoAnswer when there is none, or none that can be read, in time
   */
  ask(server: Upstream, question: Question, asking: Asking): Promise<Reply> {
    // who has no time left waits neither for a turn nor for a look-up of the system; a signal of its own, since
    // hundreds of questions may listen to one
    const signal = asking.signal && AbortSignal.any([asking.signal]);
    const target = server.url ?? `${server.host} ${server.port}`;
    return this.pool.run({ target }, () => this.now(server, question, asking), signal);
  }

  private async now(server: Upstream, question: Question, asking: Asking): Promise<Reply> {
    const { timeoutMs, signal, effort } = asking;
    signal?.throwIfAborted();
    const limits = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const within = AbortSignal.any(limits);
    const begin = performance.now();
    try {
      const first = await this.exchange(server, question, asking, true, within);
      const reply = EDNS_UNKNOWN.has(first.rcode)
        ? await this.exchange(server, question, asking, false, within)
        : first;
      return { ...reply, latencyMs: Math.round(performance.now() - begin) };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limits[0]?.aborted) throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`);
      if (error instanceof TooMuch) {
        effort?.cut.add(`${server.host}: ${error.message}`);
        throw new NoAnswer(error.message, false, true);
      }
      throw new NoAnswer(wordsOf(error), NO_ROUTE.has((error as NodeJS.ErrnoException).code ?? ''));
    }
  }

  private async exchange(
    server: Upstream,
    question: Question,
    { recurse, allow, effort }: Asking,
    edns: boolean,
    signal: AbortSignal,
  ): Promise<Omit<Reply, 'latencyMs'>> {
    // answers of HTTPS may be kept by caches on the way, which go by the whole message (RFC 8484 section 4.1)
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

/** A message read, if it is the answer to this question. @throws RangeError when it says so and cannot be read */
function answerTo(raw: Buffer, id: number, { name, type }: Question, effort?: Effort): Message | null {
  if (raw.length < 12 || raw.readUInt16BE(0) !== id || !(raw.readUInt16BE(2) & 0x8000)) return null;
  const [asked] = questionOf(raw).question;
  if (asked && (bareName(asked.name) !== bareName(name) || asked.type !== type)) return null;
  effort?.receives(raw.length);
  const message = decode(raw);
  // servers that did not understand leave the question out
  if (!asked && message.rcode === RCODE.NOERROR) return null;
  try {
    readNeeded(message, type);
  } finally {
    effort?.reads(message);
  }
  return message;
}

/**
 * Reads what answers are asked for here: what was asked, aliases, and whom a referral names with their addresses, so
 * that it is told now what of it is too much. Rdata that is broken is left out later. @throws RangeError
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

/** A turn of the event loop for each large answer alone, in the order in which they came. */
function turn(): Promise<unknown> {
  last = last.then(() => nextTurn());
  return last;
}

function readable(message: Message | null): Message {
  if (!message) throw new Error('it answered something else than what was asked');
  return message;
}

const overUdp =
  (host: string, port: number): Carry =>
  (message, fits, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const socket = udpFor(host);
      const timers: NodeJS.Timeout[] = [];
      let packets = 0;
      let ended = false;
      const end = (finish: () => void) => {
        // packets that could not be sent are told of after the end, too
        if (ended) return;
        ended = true;
        for (const timer of timers) clearTimeout(timer);
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
          if (raw.length > MAX_PACKET)
            throw new TooMuch(`the answer is too large: more than ${MAX_PACKET} octets over UDP`);
          const answer = fits(raw);
          // what does not fit may be somebody's guess: the answer may still come
          if (answer) end(() => resolve(answer));
          else if (++packets > MOST_PACKETS) failed(new Error('it sends packets that answer nothing'));
        } catch (error) {
          failed(error as Error);
        }
      });
      // connected: only packets of that server are taken, and "port unreachable" is told
      socket.connect(port, host, (error?: Error) => {
        if (error) return failed(error);
        const send = () => socket.send(message, (error) => error && failed(error));
        send();
        for (const ms of AGAIN_MS) timers.push(setTimeout(send, ms));
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
