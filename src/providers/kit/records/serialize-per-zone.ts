import { monotonicMs, within } from '../../../platform/common/clock.js';
import type { DnsProvider } from '../../provider.js';
import { LONGEST_TIMER_MS } from '../http/rate-limiter.js';

/**
 * Serializes the lists of changes of one zone, for vendors that are read before each write and whose pages shift with
 * each write: no list is read while another one is written. At its deadline a list stops waiting, and `apply` itself
 * refuses it.
 */
export function serializePerZone(apply: DnsProvider['apply']): DnsProvider['apply'] {
  const last = new Map<string, Promise<unknown>>();
  return async (zone, changes, options) => {
    const before = last.get(zone.id);
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    // one that stops waiting still keeps the next one behind those before it
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

/** Waits for the lists before this one, or until the deadline. */
async function orDeadline(before: Promise<unknown>, deadline = Number.POSITIVE_INFINITY): Promise<void> {
  const ms = deadline - monotonicMs();
  if (ms >= LONGEST_TIMER_MS) await before;
  else await within(before, Math.max(0, ms));
}
