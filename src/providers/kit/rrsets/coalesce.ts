import { AsyncLocalStorage } from 'node:async_hooks';
import type { Change, DnsProvider, Outcome } from '../../provider.js';
import { LONGEST_TIMER_MS } from '../http/rate-limiter.js';
import { notTried } from '../records/outcomes.js';

/** ms that who goes with others must have left: the one call of all ends with the shortest of their times */
const LEAST_MS = 5_000;

interface Waiter {
  change: Change;
  deadline: number;
  heldUntil(): number;
  /** does something as part of the request that the change is for */
  inside: <T>(body: () => T) => T;
  /** goes off at its deadline, while it waits */
  timer?: NodeJS.Timeout;
  answer(outcome: Outcome): void;
  fail(error: unknown): void;
}

/**
 * `apply` for vendors that write several sets at once, all or none: single changes of one zone that come while another
 * one is on its way wait for its answer and then go together, as one list. Fewer calls, and never two writes of single
 * changes to one zone at a time. Lists of several changes go as they come, and so does a change with a condition: what
 * belongs together stays by itself. A single change is whole anyway, so `atomic` of one does not make the others fail
 * with it. Whoever's time ends while others are at it goes away, and whose is nearly over does not go with others.
 * @param most changes that go together
 */
export function coalesce(apply: DnsProvider['apply'], most: number): DnsProvider['apply'] {
  const waiting = new Map<string, Waiter[]>();
  return (zone, changes, options = {}) => {
    const [change, ...more] = changes;
    if (!change || more.length || options.only) return apply(zone, changes, options);

    /** Those who waited, as long as there are any. */
    const next = async (line: Waiter[]): Promise<void> => {
      while (line.length) {
        const now = performance.now();
        const here = line.splice(0, most);
        for (const { timer } of here) clearTimeout(timer);
        const able = here.filter(({ deadline }) => deadline >= now + LEAST_MS);
        const some = able.length ? able : here.filter(({ deadline }) => deadline > now).slice(0, 1);
        for (const waiter of here) if (!some.includes(waiter)) waiter.answer(notTried());
        const [first] = some;
        if (!first) continue;
        const deadline = Math.min(...some.map((waiter) => waiter.deadline));
        try {
          const list = some.map((waiter) => waiter.change);
          const heldUntil = () => Math.min(...some.map((waiter) => waiter.heldUntil()));
          const bounds = { ...(Number.isFinite(deadline) && { deadline }), heldUntil };
          const outcomes = await first.inside(() => apply(zone, list, bounds));
          for (const [i, { answer }] of some.entries()) answer(outcomes[i] as Outcome);
        } catch (error) {
          for (const { fail } of some) fail(error);
        }
      }
      waiting.delete(zone.id);
    };
    return new Promise((resolve, reject) => {
      const { deadline = Number.POSITIVE_INFINITY, heldUntil = () => Number.POSITIVE_INFINITY } = options;
      const inside = AsyncLocalStorage.snapshot();
      const told = { answer: (outcome: Outcome) => resolve([outcome]), fail: reject };
      const waiter: Waiter = { change, deadline, heldUntil, inside, ...told };
      const line = waiting.get(zone.id);
      if (line) {
        line.push(waiter);
        const leave = () => {
          if (line.includes(waiter)) line.splice(line.indexOf(waiter), 1);
          waiter.answer(notTried());
        };
        const left = deadline - performance.now();
        if (left < LONGEST_TIMER_MS) waiter.timer = setTimeout(leave, Math.max(0, left));
        return;
      }
      const own = [waiter];
      waiting.set(zone.id, own);
      void next(own);
    });
  };
}
