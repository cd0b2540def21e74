import { performance } from 'node:perf_hooks';
import type { Response } from 'express';

/**
 * Does work that may take as long as the client asked for, and aborts it when the client disconnects: the result is
 * undefined then.
 */
export async function untilGone<T>(
  response: Response,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  const begin = performance.now();
  // unlimited until the work ends
  response.locals.waitedMs = Number.POSITIVE_INFINITY;
  try {
    if (response.destroyed) return undefined;
    return await work(gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    response.off('close', leave);
    response.locals.waitedMs = performance.now() - begin;
  }
}
