import { after, type Cancel, timeMs } from '../../platform/common/clock.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import type { Logger } from '../../platform/common/logger.js';

/** ms until a domain, or an account that cannot be asked, is tried again, at first and at most */
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;

/** A domain that has something to settle. */
export interface ToSettle {
  id: number;
  accountId: number;
  ownerId?: number | null;
}

/**
 * What came of one look: `done`; `again` at this time of `timeMs()`, when the next look can prove more; `failed`, or
 * `down` when nothing of the account can be asked.
 */
export type Looked = 'done' | 'failed' | 'down' | { again: number };

/** How often something failed in a row, and when it may be tried again. */
interface Pause {
  fails: number;
  until: number;
}

/**
 * Looks after domains that have something to settle: some of each owner and account at once, so that an account whose
 * provider is down hinders no other one, and more and more seldom while it fails.
 */
export class SettleQueue {
  private readonly pool = new FairPool('settling');
  /** domains that wait or are being looked at; true: a change came into doubt meanwhile */
  private readonly busy = new Map<number, boolean>();
  private readonly domains = new Map<number, Pause>();
  private readonly accounts = new Map<number, Pause>();
  private cancelWake: Cancel | undefined;
  private wakesAt = Number.POSITIVE_INFINITY;
  private stopped = false;

  /**
   * @param look asks the provider about one domain
   * @param wake called when a look would prove more: it offers again what is to be settled
   */
  constructor(
    private readonly look: (domainId: number) => Promise<Looked>,
    private readonly wake: () => void,
    private readonly logger: Logger,
  ) {}

  /** Begins with those that are due. `list` is all that is to be settled: what was known of others is forgotten. */
  offer(list: readonly ToSettle[]): void {
    this.forget(list);
    // those first that did not fail: zones that cannot be read must not stand for their account each time
    const fails = ({ id }: ToSettle) => this.domains.get(id)?.fails ?? 0;
    for (const { id, accountId, ownerId = null } of list.toSorted((a, b) => fails(a) - fails(b))) {
      if (this.busy.has(id)) this.busy.set(id, true);
      if (this.stopped || this.busy.has(id) || this.isPaused(id, accountId)) continue;
      this.busy.set(id, false);
      void this.pool.run({ user: ownerId, target: accountId }, () => this.one(id, accountId));
    }
  }

  /** A domain could be read: what failed before says nothing any more. */
  works(id: number, accountId: number): void {
    this.domains.delete(id);
    this.accounts.delete(accountId);
  }

  /** Until all that was begun has ended. */
  async idle(): Promise<void> {
    await this.pool.onIdle();
  }

  /** Begins nothing more. */
  stop(): void {
    this.stopped = true;
    this.cancelWake?.();
  }

  private isPaused(id: number, accountId: number): boolean {
    return Math.max(this.domains.get(id)?.until ?? 0, this.accounts.get(accountId)?.until ?? 0) > timeMs();
  }

  private async one(id: number, accountId: number): Promise<void> {
    try {
      // the account may have failed while this waited
      if (this.stopped || this.isPaused(id, accountId)) return;
      this.busy.set(id, false);
      const looked = await this.look(id).catch((error: Error): Looked => {
        this.logger.warn({ domain_id: id, err: error.message }, 'unfinished writes could not be looked at');
        return 'failed';
      });
      if (looked === 'down') pause(this.accounts, accountId);
      if (looked === 'down' || looked === 'failed') pause(this.domains, id);
      else this.works(id, accountId);
      if (typeof looked === 'object') {
        this.domains.set(id, { fails: 0, until: looked.again });
        this.wakeAt(looked.again);
      }
    } finally {
      if (this.busy.get(id)) this.wakeAt(timeMs());
      this.busy.delete(id);
    }
  }

  private wakeAt(time: number): void {
    if (this.stopped || time >= this.wakesAt) return;
    this.cancelWake?.();
    this.wakesAt = time;
    const run = () => {
      this.wakesAt = Number.POSITIVE_INFINITY;
      this.wake();
    };
    this.cancelWake = after(Math.max(0, time - timeMs()), run, { idle: true });
  }

  /** What has nothing to settle any more takes no memory. */
  private forget(list: readonly ToSettle[]): void {
    const domains = new Set(list.map(({ id }) => id));
    const accounts = new Set(list.map(({ accountId }) => accountId));
    for (const id of this.domains.keys()) if (!domains.has(id)) this.domains.delete(id);
    for (const id of this.accounts.keys()) if (!accounts.has(id)) this.accounts.delete(id);
  }
}

function pause(pauses: Map<number, Pause>, id: number): void {
  const was = pauses.get(id);
  // two of an account that fail at once count as one
  if (was && was.until > timeMs()) return;
  const fails = (was?.fails ?? 0) + 1;
  pauses.set(id, { fails, until: timeMs() + Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (fails - 1)) });
}
