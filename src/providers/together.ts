import type { Change, DnsProvider, Outcome } from './provider.js';
import { notTried } from './work.js';

interface Waiter {
  change: Change;
  deadline: number;
  answer(outcome: Outcome): void;
  fail(error: unknown): void;
}

/**
 * `apply` for vendors that write several sets at once, all or none: single changes of one zone that come while another
 * one is on its way wait for its answer and then go together, as one list. Fewer calls, and never two writes of single
 * changes to one zone at a time. Lists of several changes go as they come, and so does a change with a condition: what
 * belongs together stays by itself. A single change is whole anyway, so `atomic` of one does not make the others fail
 * with it.
 * @param most changes that go together
 */
export function together(apply: DnsProvider['apply'], most: number): DnsProvider['apply'] {
  const waiting = new Map<string, Waiter[]>();
  return (zone, changes, options = {}) => {
    const [change, ...more] = changes;
    if (!change || more.length || options.only) return apply(zone, changes, options);

    /** Those who waited, as long as there are any. */
    const next = async (line: Waiter[]): Promise<void> => {
      while (line.length) {
        const some = line.splice(0, most).filter(({ deadline, answer }) => {
          const isOver = Date.now() >= deadline;
          if (isOver) answer(notTried());
          return !isOver;
        });
        if (!some.length) continue;
        const deadline = Math.min(...some.map((waiter) => waiter.deadline));
        try {
          const list = some.map((waiter) => waiter.change);
          const outcomes = await apply(zone, list, Number.isFinite(deadline) ? { deadline } : {});
          for (const [i, { answer }] of some.entries()) answer(outcomes[i] as Outcome);
        } catch (error) {
          for (const { fail } of some) fail(error);
        }
      }
      waiting.delete(zone.id);
    };
    return new Promise((resolve, reject) => {
      const { deadline = Number.POSITIVE_INFINITY } = options;
      const waiter: Waiter = { change, deadline, answer: (outcome) => resolve([outcome]), fail: reject };
      const line = waiting.get(zone.id);
      if (line) {
        line.push(waiter);
        return;
      }
      const own = [waiter];
      waiting.set(zone.id, own);
      void next(own);
    });
  };
}
