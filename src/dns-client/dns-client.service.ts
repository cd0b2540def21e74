import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls } from 'node:tls';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import PQueue from 'p-queue';
import { request } from 'undici';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { bareName } from '../dns/names.js';
import { decode, encode, type Message, OPCODE, RCODE } from '../dns/wire.js';
import { outboundAgent } from '../outbound/agent.js';
import { readBody } from '../outbound/body.js';
import { assertUrlAllowed, resolveAllowed } from '../outbound/guard.js';
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
  ) {
    super(message);
  }
}

/** ms until a packet that may be lost is sent again, for the first and the second time */
const AGAIN_MS = [600, 1500];
/** questions under way at once: each has a socket */
const AT_ONCE = 200;
const MAX_MESSAGE_MIB = 1 / 16;
const EDNS_UNKNOWN: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.NOTIMP, RCODE.BADVERS]);
const DOH = 'application/dns-message';

/** A way to a server: carries a request there, and the one answer to it back. */
type Carry = (message: Buffer, fits: (raw: Buffer) => Message | null, signal: AbortSignal) => Promise<Message>;

/**
 * Asks DNS servers: UDP, then TCP where the answer is cut (RFC 7766); TLS; HTTPS. Servers may be on private networks
 * and loopback, as far as OUTBOUND_DENY does not forbid it.
 */
@Injectable()
export class DnsClient implements OnApplicationShutdown {
  private readonly agent;
  private readonly queue = new PQueue({ concurrency: AT_ONCE });

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
    return this.queue.add(() => this.now(server, question, asking), { signal });
  }

  private async now(server: Upstream, question: Question, { recurse, timeoutMs, signal }: Asking): Promise<Reply> {
    signal?.throwIfAborted();
    const limits = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const within = AbortSignal.any(limits);
    const begin = performance.now();
    try {
      const first = await this.exchange(server, question, recurse, true, within);
      const reply = EDNS_UNKNOWN.has(first.rcode)
        ? await this.exchange(server, question, recurse, false, within)
        : first;
      return { ...reply, latencyMs: Math.round(performance.now() - begin) };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limits[0]?.aborted) throw new NoAnswer(`no answer within ${timeoutMs / 1000} s`);
      throw new NoAnswer(wordsOf(error), NO_ROUTE.has((error as NodeJS.ErrnoException).code ?? ''));
    }
  }

  private async exchange(
    server: Upstream,
    question: Question,
    recurse: boolean,
    edns: boolean,
    signal: AbortSignal,
  ): Promise<Omit<Reply, 'latencyMs'>> {
    // answers of HTTPS may be kept by caches on the way, which go by the whole message (RFC 8484 section 4.1)
    const id = server.transport === 'https' ? 0 : randomInt(65536);
    const message = encode(id, OPCODE.QUERY, question, undefined, { recurse, edns });
    const fits = (raw: Buffer) => answerTo(raw, id, question);
    const { outboundDeny } = this.config;
    if (server.transport === 'https')
      return { ...(await this.overHttps(server.url as string, message, fits, signal)), transport: 'https' };
    const address = await resolveAllowed(server.host, outboundDeny);
    if (server.transport === 'tls')
      return { ...(await stream(() => overTls(server, address))(message, fits, signal)), transport: 'tls' };
    const answer = await overUdp(address, server.port)(message, fits, signal);
    if (!answer.truncated) return { ...answer, transport: 'udp' };
    const whole = await stream(() => connect({ host: address, port: server.port }))(message, fits, signal);
    return { ...whole, transport: 'tcp' };
  }

  private async overHttps(url: string, message: Buffer, fits: (raw: Buffer) => Message | null, signal: AbortSignal) {
    assertUrlAllowed(url, this.config.outboundDeny);
    const headers = { accept: DOH, 'content-type': DOH };
    const answer = await request(url, { method: 'POST', headers, body: message, signal, dispatcher: this.agent });
    const body = await readBody(answer.body, MAX_MESSAGE_MIB);
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
function answerTo(raw: Buffer, id: number, { name, type }: Question): Message | null {
  if (raw.length < 12 || raw.readUInt16BE(0) !== id || !(raw.readUInt16BE(2) & 0x8000)) return null;
  const message = decode(raw);
  const [asked] = message.question;
  // servers that did not understand leave the question out
  if (!asked) return message.rcode === RCODE.NOERROR ? null : message;
  return bareName(asked.name) === bareName(name) && asked.type === type ? message : null;
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
      const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
      const timers: NodeJS.Timeout[] = [];
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
          const answer = fits(raw);
          // what does not fit may be somebody's guess: the answer may still come
          if (answer) end(() => resolve(answer));
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
  return connectTls({ host: address, port, ...(isIP(host) ? {} : { servername: host }), ALPNProtocols: ['dot'] });
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
      for await (const raw of framed(socket, 60_000)) return readable(fits(raw));
      throw new Error('it closed the connection without an answer');
    } finally {
      signal.removeEventListener('abort', abort);
      socket.on('error', () => undefined).destroy();
    }
  };
