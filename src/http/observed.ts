import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../common/access.js';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { requestSeconds } from '../metrics/metrics.js';
import { requestSpan } from '../traces/traces.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** in place of the status: the connection ended before the answer did */
const GONE = 499;

/** One log line of each request (reads: debug), a warning where it took long, its place in the metrics, its span. */
export function observed({ slowMs, metrics }: Config) {
  const measured = metrics.on || metrics.port !== null;
  return (incoming: Request, response: Response, next: NextFunction): void => {
    const begin = performance.now();
    const { method } = incoming;
    const known = METHODS.has(method) ? method : 'other';
    const path = incoming.originalUrl.split('?')[0];
    // also where the client did not wait for the answer
    response.once('close', () => {
      // a stream lasts as long as somebody listens
      if (String(response.getHeader('content-type')).startsWith('text/event-stream')) return;
      const passed = performance.now() - begin;
      const status = response.writableFinished ? response.statusCode : GONE;
      const { requestId, ip, principal } = (incoming as ZoneRequest).caller;
      const line = () => ({
        requestId,
        method,
        path,
        status,
        ms: Math.round(passed),
        ip,
        user: principal?.username,
      });
      if (measured) {
        const labels = { method: known, route: routeOf(incoming) };
        requestSeconds.observe({ ...labels, status }, passed / 1000);
      }
      // what a client asked to wait for is nobody's slowness
      if (passed - (Number(response.locals.waitedMs) || 0) > slowMs) log().warn(line(), 'slow request');
      else if (method !== 'GET') log().info(line(), 'request');
      else if (log().isLevelEnabled('debug')) log().debug(line(), 'request');
    });
    const { requestId } = (incoming as ZoneRequest).caller;
    const span = requestSpan(known, requestId, incoming.headers.traceparent);
    // also of what is broken off, and of streams
    if (span) response.once('close', () => span.end(routeOf(incoming), response.statusCode));
    if (span) span.run(next);
    else next();
  };
}

/** The pattern, never the path: there are as many paths as anybody thinks up. */
function routeOf({ route }: Request): string {
  const path = (route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : 'none';
}
