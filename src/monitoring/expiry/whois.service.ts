import { Inject, Injectable } from '@nestjs/common';
import { timeoutSignal, wallMs } from '../../platform/common/clock.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { resolveAllowed } from '../../platform/outbound/guard.js';
import { tcpTo } from '../../platform/outbound/sockets.js';
import { RegistrySilence } from './answers.js';
import { tldOf } from './registrable.js';
import { RegistryServers } from './registry-servers.service.js';
import { readWhois, referredServer } from './whois-answer.js';
import { COMMON, FORMATS } from './whois-formats.js';

const PORT = 43;
const IANA = 'whois.iana.org';
const LIMIT_MS = 15_000;
const MAX_BYTES = 262_144;
/** ms for which IANA's answer about a top level domain is kept */
const KEEP_MS = 24 * 3_600_000;

/** WHOIS (RFC 3912): a line to port 43, answered until the server closes the connection. */
@Injectable()
export class Whois {
  private readonly referred = new Map<string, { server: string | null; until: number }>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly servers: RegistryServers,
  ) {}

  /**
   * The end of a registration; null where the registry does not publish it.
   * @throws RegistrySilence, or the signal's reason
   */
  async ask(name: string, signal: AbortSignal): Promise<string | null> {
    const tld = tldOf(name);
    const format = FORMATS[tld] ?? { ...COMMON, guessed: true };
    const server = this.config.expiry.whoisServers[tld] ?? format.server ?? (await this.serverOf(tld, signal));
    if (!server) throw new RegistrySilence('dateless', `the registry of .${tld} answers no questions`);
    const text = await this.exchange(server, format.query?.(name) ?? name, signal, format.charset);
    try {
      const end = readWhois(text, name, format);
      await this.servers.answered(server);
      return end;
    } catch (error) {
      if (!(error instanceof RegistrySilence)) throw error;
      const words = `${server}: ${error.message}`;
      if (error.kind !== 'limited') {
        await this.servers.answered(server);
        throw new RegistrySilence(error.kind, words);
      }
      throw new RegistrySilence('limited', words, await this.servers.failed(server, 'limited', words, error.waitMs));
    }
  }

  /** The server of a top level domain, as IANA names it. */
  private async serverOf(tld: string, signal: AbortSignal): Promise<string | null> {
    const known = this.referred.get(tld);
    if (known && known.until > wallMs()) return known.server;
    const iana = this.config.expiry.whoisServers['.'] ?? IANA;
    const text = await this.exchange(iana, tld, signal);
    await this.servers.answered(iana);
    if (!/^domain:/im.test(text)) {
      // a top level domain that only a private network knows has no WHOIS server
      const kind = /returned 0 objects/i.test(text) ? 'dateless' : 'unreadable';
      throw new RegistrySilence(kind, `${iana} says nothing of .${tld}`);
    }
    const server = referredServer(text);
    this.referred.set(tld, { server, until: wallMs() + KEEP_MS });
    return server;
  }

  private async exchange(server: string, query: string, signal: AbortSignal, charset = 'utf-8'): Promise<string> {
    await this.servers.turn(server, signal);
    const [host = '', port = PORT] = server.split(':');
    const { outboundDeny, outboundAllow } = this.config;
    try {
      const address = await resolveAllowed(host, outboundDeny, outboundAllow);
      return new TextDecoder(charset).decode(await lineTo(address, Number(port), query, signal));
    } catch (error) {
      // the caller has given up: that is no failure of the server
      signal.throwIfAborted();
      const { code, message } = error as { code?: string | number; message: string };
      const words = `${server} does not answer (${typeof code === 'string' ? code : message})`;
      throw new RegistrySilence('unavailable', words, await this.servers.failed(server, 'unavailable', words, null));
    }
  }
}

/** The whole answer of a server to one line. @throws Error when the connection breaks before its end */
function lineTo(host: string, port: number, line: string, patience: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const socket = tcpTo(host, port);
    const end = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const signal = AbortSignal.any([patience, timeoutSignal(LIMIT_MS)]);
    const late = () => end(new Error('it takes too long'));
    if (signal.aborted) late();
    signal.addEventListener('abort', late);
    socket.once('connect', () => socket.write(`${line}\r\n`));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) end(new Error('the answer is too long'));
    });
    socket.once('end', () => resolve(Buffer.concat(chunks)));
    socket.on('error', end);
    socket.once('close', () => {
      signal.removeEventListener('abort', late);
      reject(new Error('the connection was closed'));
    });
  });
}
