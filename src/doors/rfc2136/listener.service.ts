import type { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { networkOf } from '../../platform/common/cidr.js';
import { after } from '../../platform/common/clock.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import { StartRefused } from '../../platform/common/start-refused.js';
import { due, turn } from '../../platform/common/turns.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { frame, framed, TooLate } from '../../platform/dns-client/stream.js';
import { udpFor } from '../../platform/outbound/sockets.js';
import { DnsMessages, type From } from './dns-messages.js';
import { Rfc2136Service } from './rfc2136.service.js';

type UdpSocket = ReturnType<typeof udpFor>;

/** ms for which a connection may be without a message, and for which a client may read nothing of an answer */
const IDLE_MS = 15_000;
/** connections at once, of all and of one network */
const MOST_CONNECTIONS = 500;
const MOST_OF_NETWORK = 50;
/** ms in which what is under way is still answered at the end */
const ENDING_MS = 5_000;

const messages = new FairPool('DNS messages');

/** The client's address, as HTTP has it. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');

/** The listener for DNS messages: UDP and TCP at one port, where one is configured. */
@Injectable()
export class DnsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly handler: DnsMessages;
  private readonly connections = new Map<Socket, string>();
  private udp: UdpSocket | undefined;
  private tcp: Server | undefined;
  private isStopping = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    service: Rfc2136Service,
    private readonly logger: Logger,
  ) {
    this.handler = new DnsMessages(service);
  }

  /** @throws StartRefused */
  async onApplicationBootstrap(): Promise<void> {
    const { port } = this.config.dns;
    const host = this.config.dns.host ?? this.config.host;
    if (port === null) return;
    const udp = udpFor(host);
    const tcp = createServer({ noDelay: true }, (socket) => void this.connection(socket));
    this.udp = udp;
    this.tcp = tcp;
    tcp.listen(port, host);
    udp.bind(port, host);
    try {
      await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
    } catch (error) {
      this.close();
      const { code = '' } = error as NodeJS.ErrnoException;
      const words: Record<string, string> = {
        EADDRINUSE: 'something listens there already: end it, or set DNS_PORT',
        EACCES: 'it is not permitted: set DNS_PORT to one above 1023',
      };
      throw new StartRefused(`No DNS messages can be taken at ${host}, port ${port}: ${words[code] ?? error}`);
    }
    udp.on('message', (raw, { address, port: from }) => void this.datagram(udp, raw, address, from));
    udp.on('error', (err) => this.logger.warn({ err: err.message }, 'DNS over UDP failed'));
    tcp.on('error', (err) => this.logger.warn({ err: err.message }, 'DNS over TCP failed'));
    this.logger.info({ dnsPort: port, host }, 'DNS messages');
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.tcp) return;
    this.isStopping = true;
    this.tcp.close();
    const cancel = after(ENDING_MS, () => this.close());
    await Promise.race([messages.onIdle(), once(this.tcp, 'close')]).finally(cancel);
    this.close();
  }

  private close(): void {
    this.tcp?.close();
    for (const socket of this.connections.keys()) socket.destroy();
    try {
      this.udp?.close();
    } catch {
      // it could not be opened
    }
  }

  /** Where too many are under way, the client sends it again. */
  private async datagram(udp: UdpSocket, raw: Buffer, address: string, port: number): Promise<void> {
    const ip = plain(address);
    const release = this.isStopping ? null : messages.take({ user: networkOf(ip) });
    if (!release) return;
    try {
      for await (const answer of this.handler.answers(raw, { ip, isTcp: false, gone: () => false })) {
        udp.send(answer, port, address, () => undefined);
        break;
      }
    } catch (err) {
      // such as a port that nobody can have
      this.logger.debug({ err, ip, port }, 'an answer could not be sent');
    } finally {
      release();
    }
  }

  private async connection(socket: Socket): Promise<void> {
    const ip = plain(socket.remoteAddress ?? '');
    const network = networkOf(ip);
    socket.on('error', () => undefined);
    const ofNetwork = [...this.connections.values()].filter((one) => one === network).length;
    if (this.isStopping || this.connections.size >= MOST_CONNECTIONS || ofNetwork >= MOST_OF_NETWORK) {
      socket.destroy();
      return;
    }
    this.connections.set(socket, network);
    socket.once('close', () => this.connections.delete(socket));
    try {
      const from = { ip, isTcp: true, gone: () => socket.destroyed };
      for await (const raw of framed(socket, IDLE_MS)) {
        // thousands may have come at once
        if (due()) await turn();
        if (!(await this.answer(socket, raw, from))) break;
      }
    } catch {
      // it was cut off, or said nothing for too long
    } finally {
      socket.destroySoon();
    }
  }

  /** Answers one message of a connection; the next one is read behind it. @returns false: no more is taken of it */
  private async answer(socket: Socket, raw: Buffer, from: From): Promise<boolean> {
    const release = messages.take({ user: networkOf(from.ip) });
    if (!release) return false;
    try {
      for await (const answer of this.handler.answers(raw, from)) {
        if (socket.destroyed) return false;
        if (!socket.write(frame(answer))) await drained(socket);
      }
      return !this.isStopping;
    } finally {
      release();
    }
  }
}

/** Waits until a client has read what was written. @throws when it is gone, or reads nothing */
async function drained(socket: Socket): Promise<void> {
  const ending = new AbortController();
  const cancel = after(IDLE_MS, () => socket.destroy(new TooLate('the client reads nothing')));
  try {
    await Promise.race([
      once(socket, 'drain', { signal: ending.signal }),
      once(socket, 'close', { signal: ending.signal }),
    ]);
  } finally {
    cancel();
    ending.abort();
  }
}
