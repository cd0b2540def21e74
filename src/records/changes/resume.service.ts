import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { log } from '../../common/logger.js';
import { DatabaseService } from '../../database/database.service.js';
import { Db } from '../../database/db.js';
import { shownValue } from '../../dns/record.js';
import { WRITE } from '../../domains/access-rights.js';
import { DomainsService } from '../../domains/domains.service.js';
import { Events } from '../../events/events.js';
import type { ChangedRecord, ChangeSet, RecordChange } from './change-set.entity.js';
import type { Edit } from './edit.js';
import { ChangeEngine } from './engine.service.js';
import { Unclear } from './unclear.js';

/** ms between looks for lists that were left */
const EVERY_MS = 15_000;

type Left = Pick<RecordChange, 'position' | 'op' | 'record_id' | 'value_after'> & { state_after: string | null };

/**
 * Carries on with long lists that were accepted and whose process is gone: what is left of each goes the road of every
 * list once more, judged against the records as they are now.
 */
@Injectable()
export class ResumeService implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private looking = false;

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly domains: DomainsService,
    private readonly unclear: Unclear,
    private readonly engine: ChangeEngine,
  ) {}

  onModuleInit(): void {
    this.events.on('database.opened', () => {
      void this.look();
      this.timer ??= setInterval(() => void this.look(), EVERY_MS).unref();
    });
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (this.looking || !this.database.open) return;
    this.looking = true;
    try {
      for (const { id, domain_id } of await this.unclear.resumable()) await this.carryOn(id, domain_id);
    } catch (error) {
      log().warn({ err: (error as Error).message }, 'lists that were left could not be looked for');
    } finally {
      this.looking = false;
    }
  }

  private async carryOn(id: number, domainId: number): Promise<void> {
    try {
      const domain = await this.domains.reload(domainId);
      const set = await this.db.row<ChangeSet>('SELECT door, comment, atomic FROM change_sets WHERE id = ?', [id]);
      const left = await this.db.rows<Left>(
        `SELECT position, op, record_id, state_after, value_after FROM record_changes
         WHERE change_set_id = ? AND state = 'pending' ORDER BY position`,
        [id],
      );
      if (!set || !left.length) return;
      log().info({ domain: domain.name, change_set: id, left: left.length }, 'carrying on with a list of changes');
      const options = { door: set.door, comment: set.comment, atomic: false };
      const all = { ...domain, access: { level: WRITE, hosts: [], rules: null } };
      const positions = left.map(({ position }) => position);
      await this.engine.resume(all, left.map(editOf), options, { changeSet: id, positions });
    } catch (error) {
      log().warn({ change_set: id, err: (error as Error).message }, 'a list of changes could not be carried on with');
    }
  }
}

/** What a stored change still wants. Its rights were judged when the list was accepted. */
function editOf({ op, record_id: id, state_after, value_after }: Left): Edit {
  if (op === 'delete' || state_after === null) return { op: 'delete', id: id ?? 0 };
  const { remote_id: _, read_only: __, remark, ...rest } = JSON.parse(state_after) as ChangedRecord;
  const record = { ...rest, value: value_after ?? '' };
  const { ttl, weight, line, proxied, enabled, priority, host, type } = record;
  const patch = {
    ...{ ttl, line, proxied, enabled, remark },
    ...(weight !== null && { weight }),
    ...(priority !== null && { priority }),
  };
  if (id === null) return { op: 'upsert', record, patch, ttlGiven: true, remark };
  return { op: 'update', id, patch: { ...patch, host, type, value: shownValue(record) } };
}
