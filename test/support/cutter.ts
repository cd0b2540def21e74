import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './bind.js';

/** A request on its way to the service. */
export interface OnItsWay {
  method: string;
  /** with the query */
  path: string;
  key: string | undefined;
}

/**
 * What becomes of a request: `before` closes the connection without passing it on, `after` once the service has
 * answered, `half` in the middle of the answer; or another answer in place of that of the service.
 */
export type Fate =
  | 'pass'
  | 'before'
  | 'after'
  | 'half'
  | { status: number; body?: string; headers?: Record<string, string> };

/** What stands between a client and the service, and drops answers. */
export interface Cutter {
  url: string;
  /** @param number of requests so far, from 1, since the fate was set */
  fate: (request: OnItsWay, number: number) => Fate;
  requests: OnItsWay[];
  stop(): Promise<void>;
}

async function pass(target: string, request: IncomingMessage, body: Buffer, answer: ServerResponse, half: boolean) {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const passed = await fetch(target + request.url, {
    method: request.method as string,
    headers: headers as Record<string, string>,
    redirect: 'manual',
    ...(body.length ? { body } : {}),
  });
  const bytes = Buffer.from(await passed.arrayBuffer());
  return () => {
    const kept = [...passed.headers].filter(
      ([name]) => !/^(content-encoding|transfer-encoding|connection)$/.test(name),
    );
    answer.writeHead(passed.status, { ...Object.fromEntries(kept), 'content-length': bytes.length });
    if (half) answer.write(bytes.subarray(0, bytes.length / 2), () => answer.socket?.destroy());
    else answer.end(bytes);
  };
}

/** @param target address of the service */
export async function startCutter(target: string): Promise<Cutter> {
  const server = createServer(async (request, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const key = request.headers['idempotency-key'] as string | undefined;
    const seen = { method: request.method as string, path: request.url as string, key };
    cutter.requests.push(seen);
    const fate = cutter.fate(seen, cutter.requests.length);
    if (typeof fate === 'object') {
      answer.writeHead(fate.status, { 'content-type': 'application/json', ...fate.headers }).end(fate.body ?? '');
    } else if (fate === 'before') {
      request.socket.destroy();
    } else {
      const say = await pass(target, request, Buffer.concat(chunks), answer, fate === 'half');
      if (fate === 'after') request.socket.destroy();
      else say();
    }
  });
  const port = await listen(server);
  const cutter: Cutter = {
    url: `http://127.0.0.1:${port}`,
    fate: () => 'pass',
    requests: [],
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return cutter;
}
