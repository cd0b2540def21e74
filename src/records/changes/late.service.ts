import { Injectable } from '@nestjs/common';
import { now } from '../../common/clock.js';
import { Db, marks } from '../../database/db.js';
import type { Capabilities } from '../../providers/provider.js';
import { asSent, hostsOf, says, type UnclearChange } from './evidence.js';
import type { Net } from './plan.js';
import { Unclear } from './unclear.js';

/** Changes that went unanswered for so long that the provider may carry them out when others have been answered. */
@Injectable()
export class LateChanges {
  constructor(
    private readonly db: Db,
    private readonly unclear: Unclear,
  ) {}

  /**
   * Until when a list has to wait, because the provider may carry out an earlier change as late as then, which would
   * take away what the list has made meanwhile: of the same record, in the same set of records, or anywhere in a zone
   * that is written as a whole. Who repeats the very same wish need not wait; then only time tells whether it comes
   * once more. @returns null: not at all
   */
  async until(domainId: number, nets: readonly Net[], replaces: Capabilities['replaces']): Promise<string | null> {
    const all = await this.unclear.of(domainId);
    const late = asSent(all.filter((change) => change.late && (change.settle_after ?? '') > now()));
    let until: string | null = null;
    const repeated: number[] = [];
    for (const { change, parts } of late) {
      const touching = nets.filter((net) => meets(net, change, replaces));
      if (!touching.length) continue;
      if (touching.every((net) => late.some((other) => isSameWish(net, other.change))))
        repeated.push(...parts.map(({ id }) => id));
      else if ((change.settle_after ?? '') > (until ?? '')) until = change.settle_after;
    }
    if (until === null && repeated.length)
      await this.db.run(`UPDATE record_changes SET late = 'again' WHERE id IN (${marks(repeated.length)})`, repeated);
    return until;
  }
}

/** Whether a change that comes late undoes what a list has made of a record. */
function meets({ before, after }: Net, change: UnclearChange, replaces: Capabilities['replaces']): boolean {
  if (replaces === 'zone') return true;
  if (replaces === 'record') return before !== null && before.id === change.record_id;
  const hosts = hostsOf(change);
  return [before, after].some((row) => row !== null && hosts.includes(row.host));
}

/** Whether a list makes of a record just what a change was to make of it. */
function isSameWish({ before, after }: Net, change: UnclearChange): boolean {
  if ((before?.id ?? null) !== change.record_id) return false;
  return after === null || change.after === null ? after === change.after : says(after, change.after);
}
