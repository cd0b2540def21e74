import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './bind.js';

/** Targets of health checks: servers on loopback addresses at one port that can be started and stopped. */
export interface Targets {
  port: number;
  /** Connections so far, by address. */
  seen: Map<string, number>;
  up(...addresses: string[]): Promise<void>;
  down(...addresses: string[]): Promise<void>;
  stop(): Promise<void>;
}

interface Kind {
  /** Omitted: connections are accepted and closed. */
  answer?: RequestListener;
  tls?: { key: string; cert: string };
}

export async function startTargets({ answer, tls }: Kind = {}): Promise<Targets> {
  const port = await freePort();
  const servers = new Map<string, { server: Server; sockets: Set<Socket> }>();
  const seen = new Map<string, number>();
  const up = async (address: string) => {
    if (servers.has(address)) return;
    const sockets = new Set<Socket>();
    const server = !answer
      ? createServer((socket) => socket.on('error', () => undefined).end())
      : tls
        ? createHttpsServer(tls, answer)
        : createHttpServer(answer);
    server.on('connection', (socket: Socket) => {
      seen.set(address, (seen.get(address) ?? 0) + 1);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    servers.set(address, { server, sockets });
  };
  const down = async (address: string) => {
    const one = servers.get(address);
    servers.delete(address);
    if (!one) return;
    const closed = new Promise((resolve) => one.server.close(resolve));
    for (const socket of one.sockets) socket.destroy();
    await closed;
  };
  const each = (work: (address: string) => Promise<void>) => async (list: string[]) => {
    for (const address of list) await work(address);
  };
  return {
    port,
    seen,
    up: (...list) => each(up)(list),
    down: (...list) => each(down)(list),
    stop: () => each(down)([...servers.keys()]),
  };
}
