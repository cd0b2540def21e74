import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { type CacheRow } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { judgeRecord, systemAccess } from '../../domains/access-rights.js';
import { changeRulesOf, GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors } from '../../platform/common/errors.js';
import { due, sifted, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import type { ListOptions } from '../change-sets.js';
import { baseOf, byHost, rowsAt } from '../edits/base.js';
import type { Edit } from '../edits/edit.js';
import type { Planned } from '../edits/working-copy.js';
import { ChangeGate } from '../gate/change-gate.service.js';
import { type Change, changesOf, hostsOf, type PlannedChange } from '../gate/planned.js';
import { PastRepository } from '../history/past.repository.js';
import { mayRead, readsAll } from '../history/who.js';
import { RecordSyncService } from '../in-doubt/record-sync.service.js';
import { type Edits, Planner } from '../planner.js';
import { assertAllFit } from '../results.js';

/** changes of one plan */
const MAX_CHANGES = 20_000;
const ALL: ReadonlySet<GuardKey> = new Set(GUARDS);

/** What is wanted of a zone, as edits of the rows that were there when they were written. */
export interface Wish {
  edits: Edit[];
  /** what could not be taken up, in words */
  warnings: string[];
  /** records that were named, and are as they shall be */
  unchanged: number;
  /** they lead to a state: none is judged by what is there between two of them */
  together?: boolean;
  /** it deletes what a document without records does not have */
  emptied?: boolean;
}

/** Changes that were worked out. */
export interface Draft {
  changes: (PlannedChange & { guards: GuardKey[] })[];
  /** the edits, judged */
  planned: Planned[];
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
    private readonly gate: ChangeGate,
  ) {}

  /**
   * The domain with its rows, read at the provider. What a token with rules may not read is not there for it: a plan
   * would tell by what it makes of it. @throws ProviderError; AppError 409002
   */
  async read(me: Caller, domain: OpenDomain): Promise<{ domain: OpenDomain; rows: CacheRow[]; version: number }> {
    await this.sync.refresh(domain, 'system');
    const now = { ...(await this.domains.reload(domain.id)), access: domain.access };
    const version = await this.past.newest(domain.id);
    const rows = await this.cache.following(domain.id);
    return { domain: now, rows: readsAll(me, now) ? rows : await sifted(rows, mayRead(me, now)), version };
  }

  /**
   * @param zone as `read` found it
   * @param direct of a list that would be carried out at once: as it would be then
   * @throws AppError of edits that do not fit, but of a direct list that is not atomic, which of them do not;
   * 400001 where there are too many changes
   */
  async build(
    me: Caller,
    { domain, version }: Omit<Awaited<ReturnType<PlanBuilder['read']>>, 'rows'>,
    wish: Omit<Wish, 'edits'> & { edits: Edits },
    direct?: ListOptions,
  ): Promise<Draft> {
    // others are shown what they may not do; an answer to a token with rules would tell what it may not read
    const plan =
      direct || !readsAll(me, domain)
        ? await this.planner.preview(me, domain, wish.edits, wish.together)
        : await this.planner.preview('system', { ...domain, access: systemAccess }, wish.edits, wish.together);
    const { planned } = plan;
    if (!direct || direct.atomic || direct.strict) assertAllFit(planned, !direct || planned.length > 1);
    const list = await changesOf(plan);
    if (list.length > MAX_CHANGES)
      throw errors.field(
        'changes',
        say('are more than {max} in one plan: {count}', { max: MAX_CHANGES, count: list.length }),
      );
    const named = 'hosts' in wish.edits ? wish.edits.hosts : [];
    const hosts = new Set([...named, ...list.flatMap(hostsOf)]);
    const rows = await sifted(plan.rows, ({ host }) => hosts.has(host));
    const zone = { rules: changeRulesOf(domain), records: domain.records_count };
    const passing = { actor: me, domain, zone, changes: list, rows };
    if (direct) this.gate.admit({ ...passing, options: direct });
    const guards = await this.gate.guards(passing, ALL, direct ? 'direct' : 'plan', wish.emptied);
    const at = byHost(rows);
    const changes: Draft['changes'] = [];
    for (const [i, change] of list.entries()) {
      if (due()) await turn();
      const { op, recordId, before, after } = change;
      const base = baseOf(rowsAt(hostsOf(change), at));
      changes.push({ op, recordId, before, after, base, guards: guards[i] as GuardKey[] });
    }
    const entries = new Set(plan.nets.map(({ entry }) => entry));
    const idle = planned.filter(({ error, entry }) => !error && entry && !entries.has(entry));
    const unchanged = direct ? idle.length : wish.unchanged;
    return { changes, planned, warnings: wish.warnings, unchanged, version };
  }
}

/** Whether a caller may make a change, and whether they may know of it. */
export function judged(me: Caller, domain: OpenDomain, { op, before, after }: Change) {
  const states = [before, after].filter((state) => state !== null);
  const verdicts = states.map((state) => judgeRecord(domain.access, domain.id, op, state));
  const denied = verdicts.find(({ allowed }) => !allowed);
  return { visible: states.every(mayRead(me, domain)), denied: denied ?? null };
}
