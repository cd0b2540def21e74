import type { NextFunction, Request, Response } from 'express';
import type { ZoneRequest } from '../access/access.js';
import type { Logger } from '../platform/common/logger.js';
import type { Config } from '../platform/config/config.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import type { Traces } from '../platform/traces/traces.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** instead of the status, where the connection closed before the answer ended */
const GONE = 499;

/** Logs each request (reads: debug; slow ones: a warning), and records its metrics and span. */
export function observed({ slowMs, metrics: { on, port } }: Config, metrics: Metrics, traces: Traces, logger: Logger) {
  const measured = on || port !== null;
  return (incoming: Request, response: Response, next: NextFunction): void => {
    const begin = performance.now();
    const { method } = incoming;
    const known = METHODS.has(method) ? method : 'other';
    const path = incoming.originalUrl.split('?')[0];
    // also where the client disconnected before the answer
    response.once('close', () => {
      // a stream lasts as long as its client listens
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
        metrics.requestSeconds.observe({ ...labels, status }, passed / 1000);
      }
      // time that a client asked to wait for does not count
      const slow = passed - (Number(response.locals.waitedMs) || 0) > slowMs;
      logEnd(logger, method, slow, line);
    });
    const { requestId } = (incoming as ZoneRequest).caller;
    const span = traces.request(known, requestId, incoming.headers.traceparent);
    // also of aborted requests, and of streams
    if (span) response.once('close', () => span.end(routeOf(incoming), response.statusCode));
    if (span) span.run(next);
    else next();
  };
}

/** @param line made only where it is logged */
function logEnd(logger: Logger, method: string, slow: boolean, line: () => object): void {
  if (slow) logger.warn(line(), 'slow request');
  else if (method !== 'GET') logger.info(line(), 'request');
  else if (logger.isLevelEnabled('debug')) logger.debug(line(), 'request');
}

/**
 * The pattern, not the path: the number of paths is unbounded. Its parameters keep the names by which dashboards have
 * known them from the first version on.
 */
function routeOf({ route }: Request): string {
  const path = (route as { path?: unknown } | undefined)?.path;
  if (typeof path !== 'string') return 'none';
  return path.replace('/domains/:domain_id', '/domains/:id').replace(':record_id', ':recordId');
}
