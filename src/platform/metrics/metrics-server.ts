import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { sha256 } from '../common/hash.js';
import { Logger } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { RedisLink } from '../redis/redis-link.js';
import { Metrics } from './metrics.js';

const digest = (text: string) => Buffer.from(sha256(text));

/** Answers with the metrics; where a token is configured, only to requests that have it. */
export function metricsHandler({ metrics: { token } }: Config, metrics: Metrics) {
  return async ({ headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    if (token && !timingSafeEqual(digest(given), digest(token))) {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
      return;
    }
    const { all } = metrics;
    const text = await all.metrics();
    response.writeHead(200, { 'Content-Type': all.contentType, 'Cache-Control': 'no-store' }).end(text);
  };
}

/** The metrics at a port of their own, which need not be public. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly metrics: Metrics,
    redis: RedisLink,
    private readonly logger: Logger,
  ) {
    metrics.provide('zoneward_redis', (): Record<string, number> => {
      const { state } = redis;
      return state === 'none' ? {} : { up: Number(state === 'up'), away: Number(state === 'away') };
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    const {
      host,
      metrics: { port },
    } = this.config;
    if (!port) return;
    const answer = metricsHandler(this.config, this.metrics);
    const server = createServer((request, response) => {
      if (request.url?.split('?')[0] === '/metrics' && request.method === 'GET') void answer(request, response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.server = server;
    this.logger.info({ metricsPort: port }, 'metrics');
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
