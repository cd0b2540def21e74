import { setTimeout as after } from 'node:timers/promises';
import type { DnsProvider } from '../../provider.js';
import { LONGEST_TIMER_MS } from '../http/rate-limiter.js';

/**
 * `apply` for vendors whose lists come in pages that shift when something is written, and who have to be read for each
 * list of changes: those of one zone are carried out one after another, so that none is read while another one writes.
 * One whose deadline comes first waits no longer, and is told so by `apply` itself.
 */
export function serializePerZone(apply: DnsProvider['apply']): DnsProvider['apply'] {
  const last = new Map<string, Promise<unknown>>();
  return async (zone, changes, options) => {
    const before = last.get(zone.id);
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    // who goes early still keeps the next one from passing those before
    const mine = Promise.all([before, left]);
    last.set(zone.id, mine);
    try {
      if (before) await orDeadline(before, options?.deadline);
      return await apply(zone, changes, options);
    } finally {
      leave();
      void mine.then(() => last.get(zone.id) === mine && last.delete(zone.id));
    }
  };
}

/** Waits for the end of what was before, or for the deadline. */
async function orDeadline(before: Promise<unknown>, deadline = Number.POSITIVE_INFINITY): Promise<void> {
  const ms = deadline - performance.now();
  if (ms >= LONGEST_TIMER_MS) return void (await before);
  const stop = new AbortController();
  const late = after(Math.max(0, ms), undefined, { signal: stop.signal }).catch(() => undefined);
  await Promise.race([before, late]);
  stop.abort();
}
