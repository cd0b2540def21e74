import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RowValues } from '../../cache/reconcile.js';
import { now } from '../../platform/common/clock.js';
import type { SqlValue } from '../../platform/database/db.js';
import { RecordChangesRepository } from './record-changes.repository.js';
import { sameState, storedState } from './states.js';
import { type Counts, VersionsRepository } from './versions.repository.js';

type Row = RowValues & { remark: string };

/** What became of one record, as the cache has it before and after; null: it is not there. */
export interface Step {
  recordId: number;
  before: Row | null;
  after: Row | null;
}

/** Providers write the SOA by themselves, with each change: it is no part of versions. */
export const differs = ({ before, after }: Pick<Step, 'before' | 'after'>): boolean =>
  (after ?? before)?.type !== 'SOA' && !sameState(before, after);

const NONE: Counts = { created: 0, updated: 0, deleted: 0 };

/** Numbers the differences of a domain's records, in the transaction that stores them and has locked its row. */
@Injectable()
export class Versions {
  constructor(
    private readonly versions: VersionsRepository,
    private readonly changes: RecordChangesRepository,
  ) {}

  /** The first reading of a zone; nothing where the domain has versions. @returns whether it is that */
  async first(manager: EntityManager, domainId: number, records: number): Promise<boolean> {
    if (await this.versions.newest(domainId, manager)) return false;
    await this.insert(manager, domainId, 1, { change_set_id: null, inherited: false, ...NONE, created: records });
    return true;
  }

  /**
   * The version that these steps of a set are part of: that of its piece before them, where nothing came between and no
   * record is in both, else a new one.
   * @param steps at least one, all of which differ
   */
  async of(manager: EntityManager, domainId: number, changeSet: number, steps: readonly Step[]): Promise<number> {
    const newest = await this.versions.newest(domainId, manager);
    const counts = countsOf(steps);
    const ids = steps.map(({ recordId }) => recordId);
    if (newest?.change_set_id === changeSet && !(await this.changes.anyIn(domainId, newest.version, ids, manager))) {
      await this.versions.add(domainId, newest.version, counts, manager);
      return newest.version;
    }
    // the zone was not read yet, or by a process that is older than versions
    if (!newest) await this.insert(manager, domainId, 1, { change_set_id: null, inherited: true, ...NONE });
    const version = (newest?.version ?? 1) + 1;
    await this.insert(manager, domainId, version, { change_set_id: changeSet, inherited: false, ...counts });
    return version;
  }

  /**
   * Stores steps that no edit of the set named: of records whose TTL moved with their set (from a negative position
   * downwards), or that somebody changed at the provider (from 0).
   */
  async store(
    manager: EntityManager,
    domainId: number,
    changeSet: number,
    steps: readonly Step[],
    version: number,
    firstPosition: number,
  ): Promise<void> {
    const at = now();
    const rows = steps.map(({ recordId, before, after }, i): SqlValue[] => {
      const shown = (after ?? before) as Row;
      const from = before && after && before.host !== after.host ? before.host : null;
      const op = after ? (before ? 'update' : 'create') : 'delete';
      const states = [...storedState(before), ...storedState(after)];
      const position = firstPosition < 0 ? firstPosition - i : i;
      return [
        position,
        op,
        recordId,
        shown.host,
        from,
        shown.type,
        ...states,
        null,
        'applied',
        null,
        at,
        domainId,
        version,
      ];
    });
    await this.changes.insert(changeSet, rows, manager);
  }

  private async insert(
    manager: EntityManager,
    domainId: number,
    version: number,
    more: Counts & { change_set_id: number | null; inherited: boolean },
  ): Promise<void> {
    await this.versions.insert({ domain_id: domainId, version, created_at: now(), ...more }, manager);
  }
}

function countsOf(steps: readonly Step[]): Counts {
  const counts = { ...NONE };
  for (const { before, after } of steps) counts[after ? (before ? 'updated' : 'created') : 'deleted']++;
  return counts;
}
