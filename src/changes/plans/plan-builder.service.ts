import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { type CacheRow } from '../../cache/reconcile.js';
import { RecordCache, type StoredRecord } from '../../cache/record-cache.js';
import { judgeRecord, systemAccess } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import { baseOf, byHost, rowsAt } from '../edits/base.js';
import type { Edit } from '../edits/edit.js';
import { PastRepository } from '../history/past.repository.js';
import { sameState } from '../history/states.js';
import { mayRead } from '../history/who.js';
import { RecordSyncService } from '../in-doubt/record-sync.service.js';
import { Planner } from '../planner.js';
import { assertAllFit } from '../results.js';
import { type GuardKey, guardsOf } from './guards.js';
import { HeldNames } from './held-names.js';
import { hostsOf, type PlannedChange } from './planned.js';

/** changes of one plan */
const MAX_CHANGES = 20_000;

/** What is wanted of a zone, as edits of the rows that were there when they were written. */
export interface Wish {
  edits: Edit[];
  /** what could not be taken up, in words */
  warnings: string[];
  /** records that were named, and are as they shall be */
  unchanged: number;
}

/** Changes that were worked out. */
export interface Draft {
  changes: (PlannedChange & { guards: GuardKey[] })[];
  warnings: string[];
  unchanged: number;
  /** the domain's version that it stands on */
  version: number;
}

/** Works out what a list of edits would do, by what the provider holds now. Nothing is changed. */
@Injectable()
export class PlanBuilder {
  constructor(
    private readonly sync: RecordSyncService,
    private readonly domains: DomainsService,
    private readonly cache: RecordCache,
    private readonly past: PastRepository,
    private readonly planner: Planner,
    private readonly held: HeldNames,
  ) {}

  /** The domain with its rows, read at the provider. @throws ProviderError; AppError 409002 */
  async read(domain: OpenDomain): Promise<{ domain: OpenDomain; rows: CacheRow[]; version: number }> {
    await this.sync.refresh(domain, 'system');
    const now = { ...(await this.domains.reload(domain.id)), access: domain.access };
    const version = await this.past.newest(domain.id);
    return { domain: now, rows: await this.cache.following(domain.id), version };
  }

  /**
   * @param zone as `read` found it
   * @throws AppError of edits that do not fit, whoever asks; 400001 where there are too many changes
   */
  async build(
    me: Caller,
    { domain, rows, version }: Awaited<ReturnType<PlanBuilder['read']>>,
    wish: Wish,
  ): Promise<Draft> {
    const everything = { ...domain, access: systemAccess };
    const plan = await this.planner.preview('system', everything, wish.edits);
    if (plan.planned.some(({ error }) => error)) {
      // who may not read what is in the way is told what a change of their own would say
      if (domain.access.rules) assertAllFit((await this.planner.preview(me, domain, wish.edits)).planned);
      assertAllFit(plan.planned);
    }
    const at = byHost(rows as StoredRecord[]);
    const changes: PlannedChange[] = [];
    const add = (before: StoredRecord | null, after: StoredRecord | null, revives: number | null) => {
      const recordId = before?.id ?? revives;
      const states = { before: before && stateOf(before), after: after && stateOf(after) };
      const op = after ? (before ? 'update' : 'create') : 'delete';
      changes.push({ op, recordId, ...states, base: baseOf(rowsAt(hostsOf(states), at)) });
    };
    for (const { before, after, entry } of plan.nets) {
      if (due()) await turn();
      if (!sameState(before, after)) add(before, after, entry.revives ?? null);
    }
    for (const { before, after } of plan.moved()) add(before, after, null);
    if (changes.length > MAX_CHANGES)
      throw errors.field(
        'changes',
        say('are more than {max} in one plan: {count}', { max: MAX_CHANGES, count: changes.length }),
      );
    const guards = guardsOf({ name: domain.name, rows, held: await this.held.of(domain) }, changes);
    return {
      changes: changes.map((change, i) => ({ ...change, guards: guards[i] as GuardKey[] })),
      ...{ warnings: wish.warnings, unchanged: wish.unchanged, version },
    };
  }
}

const stateOf = ({ remark, ...row }: StoredRecord) => {
  const { id: _, domain_id: __, pending: ___, updated_at: _u, created_at: _c, read_only_reason: _r, ...state } = row;
  return { ...state, extra: state.extra ?? null, remark };
};

/** Whether a caller may make a change, and whether they may know of it. */
export function judged(me: Caller, domain: OpenDomain, { op, before, after }: PlannedChange) {
  const states = [before, after].filter((state) => state !== null);
  const verdicts = states.map((state) => judgeRecord(domain.access, domain.id, op, state));
  const denied = verdicts.find(({ allowed }) => !allowed);
  return { visible: states.every(mayRead(me, domain)), denied: denied ?? null };
}
