import { Injectable, type OnModuleInit } from '@nestjs/common';
import PQueue from 'p-queue';
import { log } from '../../common/logger.js';
import { DatabaseService } from '../../database/database.service.js';
import { Db } from '../../database/db.js';
import { shownValue } from '../../dns/record.js';
import { WRITE } from '../../domains/access-rights.js';
import { DomainsService } from '../../domains/domains.service.js';
import { Events } from '../../events/events.js';
import { Jobs } from '../../jobs/jobs.js';
import type { RecordPatch } from '../record.dto.js';
import type { ChangedRecord, ChangeSet, RecordChange } from './change-set.entity.js';
import type { Edit } from './edit.js';
import { ChangeEngine } from './engine.service.js';
import { Unclear } from './unclear.js';
import { actorOf, WHO } from './who.js';

/** ms between looks for lists that were left */
const EVERY_MS = 15_000;
/** lists that are carried on with at once */
const PARALLEL = 4;

type Left = Pick<RecordChange, 'position' | 'op' | 'record_id' | 'value_before' | 'value_after'> & {
  state_before: string | null;
  state_after: string | null;
};

/**
 * Carries on with long lists that were accepted and whose process is gone: what is left of each goes the road of every
 * list once more, judged against the records as they are now.
 */
@Injectable()
export class ResumeService implements OnModuleInit {
  private looking = false;

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly domains: DomainsService,
    private readonly unclear: Unclear,
    private readonly engine: ChangeEngine,
  ) {}

  onModuleInit(): void {
    // a start begins with what the last end left
    this.events.on('database.opened', () => {
      void this.look().catch((error: Error) => log().warn({ err: error.message }, 'lists that were left stay so'));
    });
    this.jobs.schedule('changes.resume', EVERY_MS, () => this.look());
  }

  private async look(): Promise<void> {
    if (this.looking || !this.database.open) return;
    this.looking = true;
    try {
      // side by side: one at a provider that is down keeps no other one waiting
      const queue = new PQueue({ concurrency: PARALLEL });
      const left = await this.unclear.resumable();
      await queue.addAll(
        left.map(
          ({ id, domain_id }) =>
            () =>
              this.carryOn(id, domain_id),
        ),
      );
    } finally {
      this.looking = false;
    }
  }

  private async carryOn(id: number, domainId: number): Promise<void> {
    try {
      const domain = await this.domains.reload(domainId);
      const set = await this.db.row<ChangeSet>(`SELECT ${WHO}, door, comment, atomic FROM change_sets WHERE id = ?`, [
        id,
      ]);
      const left = await this.db.rows<Left>(
        `SELECT position, op, record_id, state_before, value_before, state_after, value_after FROM record_changes
         WHERE change_set_id = ? AND state = 'pending' ORDER BY position`,
        [id],
      );
      if (!set || !left.length) return;
      log().info({ domain: domain.name, change_set: id, left: left.length }, 'carrying on with a list of changes');
      const options = { door: set.door, comment: set.comment, atomic: Boolean(set.atomic) };
      const all = { ...domain, access: { level: WRITE, hosts: [], rules: null } };
      const positions = left.map(({ position }) => position);
      await this.engine.resume(actorOf(set), all, left.map(editOf), options, { changeSet: id, positions });
    } catch (error) {
      log().warn({ change_set: id, err: (error as Error).message }, 'a list of changes could not be carried on with');
    }
  }
}

/**
 * What a stored change still wants: of an update what it was to change, since somebody may have changed the rest
 * meanwhile. Its rights were judged when the list was accepted.
 */
function editOf(left: Left): Edit {
  const { op, record_id: id, state_after, value_after } = left;
  if (op === 'delete' || state_after === null) return { op: 'delete', id: id ?? 0 };
  const after = patchOf(state_after, value_after);
  if (id !== null && left.state_before !== null) {
    const before = patchOf(left.state_before, left.value_before);
    const keys = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== before[key]);
    return { op: 'update', id, patch: Object.fromEntries(keys.map((key) => [key, after[key]])) };
  }
  const { remote_id: _, read_only: __, remark, ...rest } = JSON.parse(state_after) as ChangedRecord;
  const { host: _h, type: _t, value: _v, ...patch } = after;
  return { op: 'upsert', record: { ...rest, value: value_after ?? '' }, patch, ttlGiven: true, remark };
}

/** A stored state as the fields of an update that makes it. */
function patchOf(state: string, value: string | null): RecordPatch {
  const { host, type, ttl, line, proxied, enabled, remark, weight, priority } = JSON.parse(state) as ChangedRecord;
  return {
    ...{ host, type, value: shownValue({ type, value: value ?? '' }), ttl, line, proxied, enabled, remark },
    ...(weight !== null && { weight }),
    ...(priority !== null && { priority }),
  };
}
