import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './bind.js';

export interface Door {
  port: number;
  /** Where new connections go. */
  target: number;
  open(): Promise<void>;
  shut(): Promise<void>;
  /** Takes connections and what comes over them, and answers nothing any more. */
  freeze(): void;
  /** The server starts again: whoever waits for an answer loses the connection. */
  thaw(): void;
}

/** Notes two sockets among those that are open, and ends each with the other one. */
export function join(open: Set<Socket>, client: Socket, upstream: Socket): void {
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      other.destroy();
    });
  }
}

/** An open door in front of a database server that can be shut, left open with nobody behind it, or lead elsewhere. */
export async function startDoor(target: number): Promise<Door> {
  const port = await freePort();
  const open = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    if (frozen) {
      open.add(client.resume());
      client.on('error', () => undefined);
      return;
    }
    const upstream = connect(door.target, '127.0.0.1');
    join(open, client, upstream);
    client.pipe(upstream).pipe(client);
  });
  const door: Door = {
    port,
    target,
    open: () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve)),
    freeze() {
      frozen = true;
      for (const socket of open) socket.unpipe().resume();
    },
    thaw() {
      frozen = false;
      for (const socket of open) socket.destroy();
    },
    shut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  await door.open();
  return door;
}
