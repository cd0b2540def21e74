import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../common/access.js';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { requestSeconds } from '../metrics/metrics.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** One log line of each request (reads: debug), a warning where it took long, and its place in the metrics. */
export function observed({ slowMs, metrics }: Config) {
  const measured = metrics.on || metrics.port !== null;
  return (incoming: Request, response: Response, next: NextFunction): void => {
    const begin = performance.now();
    const { method } = incoming;
    const path = incoming.originalUrl.split('?')[0];
    response.once('finish', () => {
      // a stream lasts as long as somebody listens
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return;
      const passed = performance.now() - begin;
      const { requestId, ip, principal } = (incoming as ZoneRequest).caller;
      const line = () => ({
        requestId,
        method,
        path,
        status: response.statusCode,
        ms: Math.round(passed),
        ip,
        user: principal?.username,
      });
      if (measured) {
        // the pattern, never the path: there are as many paths as anybody thinks up
        const route = (incoming.route as { path?: unknown } | undefined)?.path;
        const labels = {
          method: METHODS.has(method) ? method : 'other',
          route: typeof route === 'string' ? route : 'none',
          status: response.statusCode,
        };
        requestSeconds.observe(labels, passed / 1000);
      }
      if (passed > slowMs) log().warn(line(), 'slow request');
      else if (method !== 'GET') log().info(line(), 'request');
      else if (log().isLevelEnabled('debug')) log().debug(line(), 'request');
    });
    next();
  };
}
