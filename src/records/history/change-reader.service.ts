import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/access.js';
import { storedHost, unknownType } from '../../changes/edits/filter-names.js';
import type { ChangeSet } from '../../changes/history/change-set.entity.js';
import { ChangeSetsRepository } from '../../changes/history/change-sets.repository.js';
import { InDoubtRepository } from '../../changes/history/in-doubt.repository.js';
import {
  type JudgedChange,
  ListedChangeSetsRepository,
  type ListedSet,
  type Scope,
  type SetFilter,
} from '../../changes/history/listed-change-sets.repository.js';
import { RecordChangesRepository, type StoredChange } from '../../changes/history/record-changes.repository.js';
import { type ChangedState, stateOf } from '../../changes/history/states.js';
import { isType } from '../../dns/types.js';
import { judgeRecord, READ } from '../../domains/access-rights.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { shownName } from '../../domains/zone-identity.js';
import { timeMs } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { pageOf } from '../../platform/common/paging.dto.js';
import { due, turn } from '../../platform/common/turns.js';
import { dayBound, type OrUndefined } from '../../platform/common/validation.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { TokenRule } from '../../tokens/rules/token-rules.js';
import type { ChangeQuery, ChangeSetDetail, ChangeSetList, ChangeSetView, ChangeView } from './change.dto.js';
import { ownWords, shownState } from './shown-state.js';

/** characters of a value that are shown: a list may be of thousands */
const MAX_VALUE = 4000;
/** changes that are judged at once, where a token with rules asks for those of a host or a type */
const BATCH = 500;

type Counts = ChangeSetView['counts'];
type Rules = readonly TokenRule[] | null;
type Query = OrUndefined<ChangeQuery>;
type Listed = ChangeSetList & { page: number; limit: number };

/** The history of a domain's records, for the API. */
@Injectable()
export class ChangeReader {
  constructor(
    private readonly sets: ChangeSetsRepository,
    private readonly lists: ListedChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly inDoubt: InDoubtRepository,
    private readonly policy: DomainPolicy,
    private readonly settings: SettingsService,
    metrics: Metrics,
  ) {
    metrics.provide('zoneward_change_sets', () => this.unfinished());
    metrics.provide('zoneward_in_doubt_seconds', () => this.oldestInDoubt());
  }

  private async oldestInDoubt(): Promise<Record<string, number>> {
    const at = await this.inDoubt.oldestInDoubt();
    return { oldest: at ? Math.max(0, (timeMs() - Date.parse(at)) / 1000) : 0 };
  }

  /** Those of a domain, newest first. @throws AppError 400001 */
  async list(domain: OpenDomain, query: Query): Promise<Listed> {
    return this.listed(domain.id, await this.filterOf(query, domain.name), domain.access.rules, query);
  }

  /** Those of all domains that somebody may read, newest first. @throws AppError 400001 */
  async listAll(me: Principal, query: Query): Promise<Listed> {
    return this.listed(this.policy.reader(me), await this.filterOf(query, null), me.token?.rules ?? null, query);
  }

  /** The first of them, without how many there are. */
  async newestAll(me: Principal, limit: number): Promise<ChangeSetView[]> {
    return this.viewsOf(await this.lists.newest(this.policy.reader(me), {}, limit, 0), me.token?.rules ?? null);
  }

  private async listed(scope: Scope, filter: SetFilter, rules: Rules, query: Query): Promise<Listed> {
    const { page, limit } = pageOf(query) ?? { page: 1, limit: 20 };
    const skip = (page - 1) * limit;
    await this.assertType(scope, filter.type, rules);
    // what a filter finds must not reveal a record that rules hide
    const judged = rules && (filter.host !== undefined || filter.type !== undefined);
    const { rows, total } = await (judged
      ? this.allowed(scope, filter, rules, limit, skip)
      : this.lists.page(scope, filter, limit, skip));
    return { total, list: await this.viewsOf(rows, rules), page, limit };
  }

  private async viewsOf(rows: readonly ListedSet[], rules: Rules): Promise<ChangeSetView[]> {
    const counts = await this.counts(rows.map(({ id }) => id));
    return rows.map((row) => setView(row, { name: row.zone, apart: row.apart }, rules, counts.get(row.id)));
  }

  /**
   * Of a type that DNS does not know there are changes only where a vendor has such records.
   * @throws AppError 400001 for what is no record type, as in the list of records
   */
  private async assertType(scope: Scope, type: string | undefined, rules: Rules): Promise<void> {
    if (type === undefined || isType(type)) return;
    const { total } = await (rules
      ? this.allowed(scope, { type }, rules, 0, 0)
      : this.lists.page(scope, { type }, 1, 0));
    if (!total) throw unknownType(type);
  }

  /** A page of the sets with a change that a filter is about and that rules let read, and how many there are. */
  private async allowed(scope: Scope, filter: SetFilter, rules: Rules, limit: number, skip: number) {
    const ids: number[] = [];
    let [total, last] = [0, 0];
    for await (const change of this.judgedChanges(scope, filter)) {
      const { change_set_id: id } = change;
      if (id === last || !maySee(rules, change.domain_id, statesOf(change))) continue;
      last = id;
      if (total >= skip && ids.length < limit) ids.push(id);
      total += 1;
    }
    return { rows: await this.lists.some(ids), total };
  }

  private async *judgedChanges(scope: Scope, filter: SetFilter): AsyncGenerator<JudgedChange> {
    const next = (after?: JudgedChange) => this.lists.changes(scope, filter, BATCH, after);
    for (let batch = await next(); batch.length; batch = await next(batch.at(-1))) {
      for (const change of batch) {
        if (due()) await turn();
        yield change;
      }
      if (batch.length < BATCH) return;
    }
  }

  /** @param zone name of the only domain; null: of several @throws AppError 400001 */
  private async filterOf({ host, type, state, door, actor, from, to }: Query, zone: string | null): Promise<SetFilter> {
    const dated = from !== undefined || to !== undefined;
    const where = dated ? (await this.settings.read('general')).timezone : '';
    return {
      host: host === undefined ? undefined : storedHost(host, zone, 'host'),
      type: type?.toUpperCase(),
      from: from === undefined ? undefined : dayBound('from', from, where, 'start'),
      to: to === undefined ? undefined : dayBound('to', to, where, 'end'),
      ...{ state, door, actor },
    };
  }

  /** The newest list of a domain, 0 when there is none. */
  newest(domainId: number): Promise<number> {
    return this.sets.newest(domainId);
  }

  /** The record sets that a request has touched with lists newer than `after`; the names before and behind a move. */
  async touched(domainId: number, requestId: string, after: number): Promise<{ host: string; type: string }[]> {
    const rows = await this.sets.touched(domainId, requestId, after);
    const named = rows.flatMap(({ host, host_before, type }) =>
      [host, host_before ?? host].map((h) => ({ host: h, type })),
    );
    return [...new Map(named.map((set) => [`${set.host} ${set.type}`, set])).values()];
  }

  /** @throws AppError 404001, also for a list of another domain */
  async get(domain: OpenDomain, id: number): Promise<ChangeSetDetail> {
    const row = await this.sets.one(id, domain.id);
    if (!row) throw errors.notFound('change_set');
    const stored = await this.changes.all(id);
    const { rules } = domain.access;
    const seen = stored.flatMap((change) => {
      const states = statesOf(change);
      return maySee(rules, domain.id, states) ? [changeView(change, ...states, !rules)] : [];
    });
    const changes = seen.filter(({ position }) => position >= 0);
    const moved = seen
      .toReversed()
      .flatMap(({ position, record_id, before, after }) =>
        position < 0 && record_id !== null && before && after ? [{ record_id, before, after }] : [],
      );
    return { ...setView(row, domain, rules, (await this.counts([id])).get(id)), changes, moved };
  }

  /** How many lists have no known end, by their state. */
  private async unfinished(): Promise<Record<string, number>> {
    return { open: 0, unknown: 0, ...(await this.sets.countUnfinished()) };
  }

  private async counts(ids: readonly number[]): Promise<Map<number, Counts>> {
    if (!ids.length) return new Map();
    const rows = await this.changes.byStateOf(ids);
    const counts = new Map<number, Counts>(ids.map((id) => [id, none()]));
    for (const { change_set_id, state, n } of rows) (counts.get(change_set_id) as Counts)[state] = Number(n);
    return counts;
  }
}

const none = (): Counts => ({ pending: 0, applied: 0, failed: 0, unknown: 0, not_tried: 0 });

/** Instead of why a list is held, which may name records that a token with rules may not read. */
const HELD = 'The right of whoever asked for it has ended';

function setView(
  row: ChangeSet,
  domain: Pick<OpenDomain, 'name' | 'apart'>,
  rules: Rules,
  counts = none(),
): ChangeSetView {
  const { id, domain_id, door, door_key, request_id, state, total, hold_reason, created_at, finished_at } = row;
  const { paused_until, cancelled_at, approver_id, approver } = row;
  const { user_id, username, token_id, token_name } = row;
  const comment = rules && ownWords(door) ? '' : row.comment;
  const why = rules && hold_reason !== null ? HELD : hold_reason;
  const actor = { type: row.actor_type as 'user', user_id, username, token_id, token_name };
  return {
    id,
    domain_id,
    domain: shownName(domain),
    door,
    door_key,
    actor,
    request_id,
    comment,
    atomic: Boolean(row.atomic),
    state,
    total,
    counts,
    hold_reason: why,
    created_at,
    ended_at: finished_at,
    finished_at,
    paused_until: state === 'done' ? null : paused_until,
    cancelled_at,
    approved_by: approver === null ? null : { user_id: approver_id, username: approver },
    // people write into it what they think of
    override_reason: rules && row.override_reason !== null ? '' : row.override_reason,
  };
}

type States = [before: ChangedState | null, after: ChangedState | null];

const statesOf = (row: Pick<StoredChange, 'state_before' | 'value_before' | 'state_after' | 'value_after'>): States => [
  stateOf(row.state_before, row.value_before),
  stateOf(row.state_after, row.value_after),
];

/** Whether rules let read a change of a domain, which may be read. */
function maySee(rules: Rules, domainId: number, change: States): boolean {
  const states = change.filter((state) => state !== null);
  const access = { level: READ, hosts: [], rules };
  // of a change without a record nothing is known that rules could judge
  return !rules || (states.length > 0 && states.every((one) => judgeRecord(access, domainId, 'read', one).allowed));
}

/** @param withWords whether the caller may read why a change failed */
function changeView(
  row: StoredChange,
  before: ChangedState | null,
  after: ChangedState | null,
  withWords: boolean,
): ChangeView {
  const { position, op, record_id, state } = row;
  const error = row.error === null ? null : (JSON.parse(row.error) as NonNullable<ChangeView['error']>);
  const told = error && !withWords ? { code: error.code, msg: 'Not told to tokens with rules' } : error;
  return { position, op, record_id, state, before: shown(before), after: shown(after), error: told };
}

function shown(state: ChangedState | null): ChangeView['before'] {
  if (!state) return null;
  const { value, ...fields } = shownState(state);
  const cut = value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}… (${value.length} characters)` : value;
  return { ...fields, value: cut };
}
