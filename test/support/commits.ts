import { connect, createServer, type Socket } from 'node:net';
import { listen } from './bind.js';
import { join } from './door.js';

/** A server of MariaDB that refuses commits as a node of a Galera cluster does. */
export interface Commits {
  port: number;
  /** Whether the next COMMIT is undone, and answered with a deadlock. */
  refuse: () => boolean;
  refused: number;
  stop(): Promise<void>;
}

const QUERY = 3;
const packet = (sequence: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, payload]);
};
const ROLLBACK = packet(0, Buffer.concat([Buffer.from([QUERY]), Buffer.from('ROLLBACK')]));
const DEADLOCK = packet(
  1,
  Buffer.concat([
    Buffer.from([0xff, 1213 & 0xff, 1213 >> 8]),
    Buffer.from('#40001Deadlock found when trying to get lock'),
  ]),
);

/** Calls back with each whole packet of a stream. */
function packets(socket: Socket, got: (whole: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readUIntLE(0, 3) + 4) {
      const length = rest.readUIntLE(0, 3) + 4;
      got(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}

/** Starts it in front of the server at this port of loopback. */
export async function startCommits(target: number): Promise<Commits> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let refusing = false;
    join(open, client, upstream);
    packets(client, (whole) => {
      const isCommit = whole[3] === 0 && whole[4] === QUERY && whole.subarray(5).toString() === 'COMMIT';
      refusing = isCommit && commits.refuse();
      if (refusing) commits.refused++;
      upstream.write(refusing ? ROLLBACK : whole);
    });
    packets(upstream, (whole) => client.write(refusing ? DEADLOCK : whole));
  });
  const commits: Commits = {
    port: 0,
    refuse: () => false,
    refused: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  commits.port = await listen(server);
  return commits;
}
