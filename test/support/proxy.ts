import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { freePort, listen } from './bind.js';
import { gate } from './gate.js';

/** A request through the proxy. */
export interface Passing {
  method: string;
  /** Including the query. */
  path: string;
  body: string;
}

/** An answer through the proxy; `cut` sends so many bytes of the body and then closes the connection. */
export interface Reply {
  status: number;
  body: string;
  cut?: number;
  headers?: Record<string, string>;
}

/** Decides how a request is handled; `close` closes the connection without an answer. */
export type Fault = (request: Passing, forward: () => Promise<Reply>) => Promise<Reply | 'close'>;

/** A write on its way to a provider, which arrives there when the test releases it. */
export interface HeldWrite {
  fault: Fault;
  /** Resolves when the write is held. */
  arrived: Promise<void>;
  /** How many writes there were so far. */
  writes(): number;
  /** Carries out the held write. */
  release(): Promise<void>;
}

/**
 * Holds the first write until the test releases it; all other requests pass.
 * @param heard what the service is answered at once; default: nothing before the release
 */
export function holdFirstWrite(heard?: Reply | 'close'): HeldWrite {
  const [arrived, released] = [gate(), gate()];
  let writes = 0;
  let applied: Promise<Reply> | undefined;
  const fault: Fault = async ({ method }, forward) => {
    if (method === 'GET' || writes++) return forward();
    applied = released.opened.then(forward);
    arrived.open();
    return heard ?? applied;
  };
  const release = async () => {
    released.open();
    await applied;
  };
  return { fault, arrived: arrived.opened, writes: () => writes, release };
}

export interface HttpProxy {
  url: string;
  /** null: no faults. */
  fault: Fault | null;
  requests: Passing[];
  /** Stops listening. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** An HTTP proxy on loopback in front of a real provider that can simulate network faults. */
export async function startProxy(target: string): Promise<HttpProxy> {
  const port = await freePort();
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const request: Passing = { method: incoming.method ?? 'GET', path: incoming.url ?? '/', body };
    proxy.requests.push(request);
    const forward = () => send(target, request, incoming.headers);
    const reply = await (proxy.fault ? proxy.fault(request, forward) : forward()).catch(() => 'close' as const);
    if (reply === 'close') {
      incoming.socket.destroy();
      return;
    }
    write(outgoing, reply);
  });
  const down = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  const up = () => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const proxy: HttpProxy = { url: `http://127.0.0.1:${port}`, fault: null, requests: [], down, up, stop: down };
  await up();
  return proxy;
}

function write(outgoing: ServerResponse, { status, body, headers, cut }: Reply): void {
  const bytes = Buffer.from(body);
  const type = /^[{[]/.test(body) ? 'application/json' : 'text/plain';
  // a 204 must not have a Content-Length
  const length = status === 204 ? {} : { 'content-length': bytes.length };
  outgoing.writeHead(status, { 'content-type': type, ...length, ...headers });
  if (cut === undefined) outgoing.end(status === 204 ? undefined : bytes);
  else outgoing.write(bytes.subarray(0, cut), () => outgoing.socket?.destroy());
}

async function send(target: string, { method, path, body }: Passing, headers: IncomingHttpHeaders): Promise<Reply> {
  const answer = await fetch(target + path, {
    method,
    headers: { 'x-api-key': String(headers['x-api-key'] ?? ''), 'content-type': 'application/json' },
    ...(body ? { body } : {}),
  });
  return { status: answer.status, body: await answer.text() };
}

/** How a message is held back. */
export interface HeldMessage {
  held: Promise<void>;
  breaks?: boolean;
  /** Called when the server has answered the message. */
  answered?: () => void;
}

export interface TcpProxy {
  port: number;
  /**
   * Fault for a client's DNS message: `before` closes the connection at once, `after` once the server has answered;
   * `held`: forwards the message when the promise resolves, whether or not the client still waits; `breaks`: closes the
   * connection of the client at once.
   */
  fault: (message: { update: boolean }) => 'pass' | 'before' | 'after' | HeldMessage;
  stop(): Promise<void>;
}

function passOn(client: Socket, upstream: Socket, first: Buffer, fate: 'pass' | 'after'): void {
  upstream.write(first);
  client.pipe(upstream);
  if (fate === 'after') upstream.once('data', () => client.destroy());
  else upstream.pipe(client);
}

function holdBack(client: Socket, upstream: Socket, first: Buffer, { held, breaks, answered }: HeldMessage): void {
  upstream.once('data', () => {
    upstream.destroy();
    answered?.();
  });
  void held.then(() => upstream.write(first));
  if (breaks) client.destroy();
}

/** A proxy for DNS over TCP that distinguishes updates with changes from all other messages. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server = createTcpServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let held = false;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        if (!held) upstream.destroy();
      });
    }
    client.once('data', (first) => {
      // two octets of length, then the header: opcode 5 is UPDATE, and its third count is that of the changes
      const update = (first[4] ?? 0) >> 3 === 5 && first.readUInt16BE(10) > 0;
      const fate = proxy.fault({ update });
      if (fate === 'before') {
        client.destroy();
        return;
      }
      held = typeof fate !== 'string';
      if (typeof fate === 'string') passOn(client, upstream, first, fate);
      else holdBack(client, upstream, first, fate);
    });
  });
  const proxy: TcpProxy = {
    port: 0,
    fault: () => 'pass',
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of open) socket.destroy();
      }),
  };
  proxy.port = await listen(server);
  return proxy;
}
