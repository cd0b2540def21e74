import { AsyncLocalStorage } from 'node:async_hooks';
import { after, type Cancel, monotonicMs } from '../../../platform/common/clock.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from '../../provider.js';
import { LONGEST_TIMER_MS } from '../http/rate-limiter.js';
import { notTried } from '../records/outcomes.js';

/** ms that a waiter must have left to join a call, since the call ends with the earliest deadline in it */
const LEAST_MS = 5_000;
/** ms below which the time that a waiter has left is short: it joins a call of such, and cuts no other one short */
const SHORT_MS = 15_000;

interface Waiter {
  change: Change;
  deadline: number;
  heldUntil(): number;
  /** runs `body` in the async context of the request that the change belongs to */
  inside: <T>(body: () => T) => T;
  /** cancels what the waiter does at its deadline */
  cancelLeave?: Cancel;
  answer(outcome: Outcome): void;
  fail(error: unknown): void;
}

/**
 * Coalesces single changes, for vendors that write several sets at once, all or none: changes of one zone that come
 * while another is in flight wait for its answer and are then sent as one list. That saves calls, and never are two
 * single changes of one zone in flight at once. Lists of several changes, and changes with a condition (`only`), are
 * sent as they come. A single change is always whole, so `atomic` of one does not make the others fail with it. A
 * waiter leaves at its deadline, and does not join a call when its deadline is near. Those who have little time, and
 * the others, are sent apart, the kind of who has waited longest first.
 * @param most changes in one call
 */
export function coalesce(apply: DnsProvider['apply'], most: number): DnsProvider['apply'] {
  const waiting = new Map<string, Waiter[]>();
  return (zone, changes, options = {}) => {
    const [change, ...more] = changes;
    if (!change || more.length || options.only) return apply(zone, changes, options);

    /** Sends what waits, call by call, until nothing is left. */
    const drain = async (line: Waiter[]): Promise<void> => {
      while (line.length) await inOneCall(apply, zone, takeNext(line, most));
      waiting.delete(zone.id);
    };
    return new Promise((resolve, reject) => {
      const { deadline = Number.POSITIVE_INFINITY, heldUntil = () => Number.POSITIVE_INFINITY } = options;
      const inside = AsyncLocalStorage.snapshot();
      const answer = (outcome: Outcome) => resolve([outcome]);
      const waiter: Waiter = { change, deadline, heldUntil, inside, answer, fail: reject };
      const line = waiting.get(zone.id);
      if (line) {
        line.push(waiter);
        const leave = () => {
          if (line.includes(waiter)) line.splice(line.indexOf(waiter), 1);
          waiter.answer(notTried());
        };
        const left = deadline - monotonicMs();
        if (left < LONGEST_TIMER_MS) waiter.cancelLeave = after(Math.max(0, left), leave);
        return;
      }
      const own = [waiter];
      waiting.set(zone.id, own);
      void drain(own);
    });
  };
}

/** Takes those out of a line who go together. */
function takeNext(line: Waiter[], most: number): Waiter[] {
  const now = monotonicMs();
  const isShort = ({ deadline }: Waiter) => deadline < now + SHORT_MS;
  const isAble = ({ deadline }: Waiter) => deadline >= now + LEAST_MS;
  const first = line.find(isAble);
  const goes = (waiter: Waiter) => !first || !isAble(waiter) || isShort(waiter) === isShort(first);
  const next = line.filter(goes).slice(0, most);
  const taken = new Set(next);
  // in place: who leaves looks for itself in this very list
  line.splice(0, line.length, ...line.filter((waiter) => !taken.has(waiter)));
  return next;
}

/** Sends the changes of those who have time for a call as one list; the others are answered at once. */
async function inOneCall(apply: DnsProvider['apply'], zone: RemoteZone, waiters: readonly Waiter[]): Promise<void> {
  for (const { cancelLeave } of waiters) cancelLeave?.();
  const joining = withTime(waiters);
  for (const waiter of waiters) if (!joining.includes(waiter)) waiter.answer(notTried());
  const [first] = joining;
  if (!first) return;
  const deadline = Math.min(...joining.map((waiter) => waiter.deadline));
  try {
    const list = joining.map((waiter) => waiter.change);
    const heldUntil = () => Math.min(...joining.map((waiter) => waiter.heldUntil()));
    const bounds = { ...(Number.isFinite(deadline) && { deadline }), heldUntil };
    const outcomes = await first.inside(() => apply(zone, list, bounds));
    for (const [i, { answer }] of joining.entries()) answer(outcomes[i] as Outcome);
  } catch (error) {
    for (const { fail } of joining) fail(error);
  }
}

/** Those whose deadlines leave time for a call; where there are none, the first whose deadline has not passed. */
function withTime(waiters: readonly Waiter[]): readonly Waiter[] {
  const now = monotonicMs();
  const able = waiters.filter(({ deadline }) => deadline >= now + LEAST_MS);
  return able.length ? able : waiters.filter(({ deadline }) => deadline > now).slice(0, 1);
}
