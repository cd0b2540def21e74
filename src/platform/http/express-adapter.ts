import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Response } from 'express';

/** ms that a connection has at the end of the service to ask something after all */
const UNUSED_MS = 200;
/** ms before the port closes in which new connections are kept */
const LAST_MS = 1000;
/** ms after it in which kept ones may ask once more: one that ends unasked may end under a request */
const KEPT_MS = 5000;
/** turns of the event loop that are waited for one in which nobody connects */
const MOST_TURNS = 1000;

/**
 * Express re-parents every request and response with `Object.setPrototypeOf`, which on Node 20 and 22 costs two thirds
 * of the throughput. Here the server makes objects that already have the prototype that Express sets, so that the call
 * changes nothing.
 */
export class FastExpressAdapter extends ExpressAdapter {
  /** connections on which nothing was asked yet: at its end Node would wait a minute for that */
  private readonly unused = new Set<Socket>();
  /** Whether the service is about to end: it takes requests, and answers end their connections. */
  draining = false;
  private accepted = 0;
  /** connections of the last moment before the port closes: they are kept until it has */
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
        // no connection ends under a request: the client asks on a new one, at another replica
        if (ends(this)) this.shouldKeepAlive = false;
        return super.writeHead(...(head as [number]));
      }
    }
    adopt(Req.prototype, app.request);
    adopt(Res.prototype, app.response);
    Object.assign(app, { request: Req.prototype, response: Res.prototype });
    this.httpServer = createServer({ IncomingMessage: Req, ServerResponse: Res as typeof ServerResponse }, app);
    // a proxy in front keeps connections longer than Node's 5 s; ours must outlive them
    this.httpServer.keepAliveTimeout = 65_000;
    this.httpServer.on('connection', (socket: Socket) => {
      this.accepted++;
      this.unused.add(socket);
      this.last?.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    this.httpServer.on('request', ({ socket }: IncomingMessage) => this.unused.delete(socket));
  }

  /**
   * Takes requests for so many ms still, each answer ends its connection, then closes the port. The kernel resets
   * connections that nobody has accepted when a port closes, so that at that moment none should come: those who come
   * in the last second are kept, and end with an answer after it.
   * @param signal ends the wait
   */
  async drain(ms: number, signal: AbortSignal): Promise<void> {
    const pause = (time: number) => setTimeout(time, undefined, { signal }).catch(() => undefined);
    const lastMs = Math.min(LAST_MS, ms / 2);
    this.draining = true;
    await pause(ms - lastMs);
    this.last = new WeakSet();
    await pause(lastMs);
    // whoever waits to be accepted is, also where the process had no processor for a while
    for (let turns = 0, seen = -1; seen !== this.accepted && turns < MOST_TURNS; turns++) {
      seen = this.accepted;
      await nextTurn();
    }
    // not that of HTTP, which cuts off connections on which nothing is asked just now
    const closed = once(this.httpServer, 'close');
    NetServer.prototype.close.call(this.httpServer);
    this.last = null;
    await Promise.race([closed, pause(KEPT_MS)]);
  }

  /** From now on connections end with the request in flight; kept alive, they would hold up the end for a minute. */
  override close() {
    this.httpServer.keepAliveTimeout = 1;
    void setTimeout(UNUSED_MS).then(() => {
      for (const socket of this.unused) socket.destroy();
    });
    return super.close();
  }

  /**
   * Every answer is an object and is sent as JSON at once; Express's own way (ETag, content negotiation) costs a tenth
   * of a small request.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (typeof body !== 'object' || body === null || body instanceof StreamableFile) {
      return super.reply(response, body, statusCode);
    }
    if (statusCode) response.statusCode = statusCode;
    // whoever asked has it already; clients take a length here for that of a body
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
