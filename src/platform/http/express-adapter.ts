import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Response } from 'express';
import { after, sleep } from '../common/clock.js';

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** ms at shutdown for connections without a request to send one. */
const UNUSED_MS = 200;
/** ms before the port closes in which new connections are kept open. */
const LAST_MS = 1000;
/** ms after closing the port for kept connections to send a request; closing one earlier could cut off a request. */
const KEPT_MS = 5000;
/** Maximum event loop iterations spent waiting for one without a new connection. */
const MOST_TURNS = 1000;

/**
 * Express changes the prototype of every request and response with `Object.setPrototypeOf`, which costs two thirds of
 * the throughput on Node 20 and 22. Here the server creates objects that already have this prototype, so that the call
 * changes nothing.
 */
export class FastExpressAdapter extends ExpressAdapter {
  /** Connections without a request so far: at shutdown Node would wait a minute for them. */
  private readonly unused = new Set<Socket>();
  /** Whether the service is shutting down: requests are still served, but connections are closed after the answer. */
  draining = false;
  private accepted = 0;
  private newServer: (answer: RequestListener) => Server = createServer;
  /** Servers of other ports. */
  private readonly others: Server[] = [];
  /** Connections accepted shortly before the port closes; they are kept until it has closed. */
  private last: WeakSet<Socket> | null = null;

  constructor() {
    super(express());
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    class Req extends IncomingMessage {}
    const ends = ({ socket }: ServerResponse) => this.draining && !(socket && this.last?.has(socket));
    class Res extends ServerResponse {
      override writeHead(...head: unknown[]): this {
        // connections close after an answer, never during a request: clients reconnect to another replica
        if (ends(this)) this.shouldKeepAlive = false;
        return super.writeHead(...(head as [number]));
      }
    }
    adopt(Req.prototype, app.request);
    adopt(Res.prototype, app.response);
    Object.assign(app, { request: Req.prototype, response: Res.prototype });
    this.newServer = (answer) =>
      createServer({ IncomingMessage: Req, ServerResponse: Res as typeof ServerResponse }, answer);
    this.httpServer = this.followed(this.newServer(app as RequestListener));
  }

  /** Notes the connections of a server, which ends with the service. */
  private followed(server: Server): Server {
    // longer than the keep-alive of a proxy in front, unlike Node's default of 5 s
    server.keepAliveTimeout = 65_000;
    server.on('connection', (socket: Socket) => {
      this.accepted++;
      this.unused.add(socket);
      this.last?.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage) => this.unused.delete(socket));
    return server;
  }

  /**
   * Listens at another port, at which the paths below a prefix are all that there is.
   * @throws Error of the system when it cannot listen there
   */
  async listenBelow(prefix: string, port: number, host: string): Promise<void> {
    const app = this.getInstance<RequestListener>();
    const server = this.newServer((request, response) => {
      request.url = prefix + (request.url?.startsWith('/') ? '' : '/') + request.url;
      app(request, response);
    });
    server.listen(port, host);
    await once(server, 'listening');
    this.others.push(this.followed(server));
  }

  /**
   * Serves requests for `ms` more, closing each connection after its answer, then closes the ports. The kernel resets
   * connections that are not yet accepted when a port closes; connections of the last second are therefore kept and
   * closed with an answer afterwards.
   * @param signal ends the wait
   */
  async drain(ms: number, signal: AbortSignal): Promise<void> {
    const lastMs = Math.min(LAST_MS, ms / 2);
    this.draining = true;
    await sleep(ms - lastMs, { signal });
    this.last = new WeakSet();
    await sleep(lastMs, { signal });
    // accept all pending connections, also if the process got no CPU time for a while
    for (let turns = 0, seen = -1; seen !== this.accepted && turns < MOST_TURNS; turns++) {
      seen = this.accepted;
      await nextTurn();
    }
    // not the close of the HTTP server, which would cut off idle connections
    const servers: Server[] = [this.httpServer, ...this.others];
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    for (const server of servers) NetServer.prototype.close.call(server);
    this.last = null;
    await Promise.race([closed, sleep(KEPT_MS, { signal })]);
  }

  /** Closes each connection after the request in flight; kept-alive ones would delay shutdown by a minute. */
  override close() {
    for (const server of [this.httpServer, ...this.others]) server.keepAliveTimeout = 1;
    for (const server of this.others) server.close();
    after(UNUSED_MS, () => {
      for (const socket of this.unused) socket.destroy();
    });
    return super.close();
  }

  /**
   * Sends every answer as JSON directly; Express's way (ETag, content negotiation) costs a tenth of a small request.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null || body instanceof StreamableFile) {
      return super.reply(response, body, statusCode);
    }
    if (statusCode) response.statusCode = statusCode;
    // a 304 has no body, and clients would take a Content-Length as that of one
    if (response.statusCode === 304) return response.end();
    const text = JSON.stringify(body);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }
}

function adopt(prototype: object, from: object): void {
  for (let source = from; source && source !== Object.prototype; source = Object.getPrototypeOf(source)) {
    if (source === IncomingMessage.prototype || source === ServerResponse.prototype) break;
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(source))) {
      if (!Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, descriptor);
    }
  }
}
