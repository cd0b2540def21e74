import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

/** A stand-in for a registry's WHOIS server on loopback. */
export interface WhoisStandIn {
  /** host:port */
  address: string;
  /** Received query lines, oldest first. */
  asked: string[];
  /** Its answer; null: closes the connection in the middle of the answer; or a handler of the connection. */
  answer: (line: string) => string | null | ((socket: Socket) => void);
  stop(): Promise<void>;
}

export async function startWhois(answer: WhoisStandIn['answer'] = () => ''): Promise<WhoisStandIn> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk;
      if (!text.endsWith('\r\n')) return;
      standIn.asked.push(text.trimEnd());
      const words = standIn.answer(text.trimEnd());
      if (words === null) socket.resetAndDestroy();
      else if (typeof words === 'function') words(socket);
      else socket.end(words);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: WhoisStandIn = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return standIn;
}

/** An RDAP answer for a domain name. */
export const rdapDomain = (name: string, expires?: unknown, more: object = {}) => ({
  headers: { 'content-type': 'application/rdap+json' },
  body: {
    objectClassName: 'domain',
    ldhName: name.toUpperCase(),
    events: [
      { eventAction: 'registration', eventDate: '2001-01-01T00:00:00Z' },
      ...(expires === undefined ? [] : [{ eventAction: 'expiration', eventDate: expires }]),
      { eventAction: 'last update of RDAP database', eventDate: '2026-11-22T00:00:00Z' },
    ],
    ...more,
  },
});
