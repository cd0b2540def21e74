import { Injectable } from '@nestjs/common';
import type { ChangedRecord, ChangeSet, Door } from '../../changes/in-doubt/change-set.entity.js';
import { ChangeSetsRepository } from '../../changes/in-doubt/change-sets.repository.js';
import { RecordChangesRepository, type StoredChange } from '../../changes/in-doubt/record-changes.repository.js';
import { shownValue } from '../../dns/record.js';
import { judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { timeMs } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { pageOf } from '../../platform/common/paging.dto.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { ChangeQuery, ChangeSetDetail, ChangeSetList, ChangeSetView, ChangeView } from './change.dto.js';

/** characters of a value that are shown: a list may be of thousands */
const MAX_VALUE = 4000;

type Counts = ChangeSetView['counts'];
/** The history of a domain's records, for the API. */
@Injectable()
export class ChangeReader {
  constructor(
    private readonly sets: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    metrics: Metrics,
  ) {
    metrics.provide('zoneward_change_sets', () => this.unfinished());
    metrics.provide('zoneward_in_doubt_seconds', () => this.oldestInDoubt());
  }

  private async oldestInDoubt(): Promise<Record<string, number>> {
    const at = await this.changes.oldestInDoubt();
    return { oldest: at ? Math.max(0, (timeMs() - Date.parse(at)) / 1000) : 0 };
  }

  /** Newest first. @param door only those that came in by it */
  async list(
    domain: OpenDomain,
    query: ChangeQuery,
    door?: Door,
  ): Promise<ChangeSetList & { page: number; limit: number }> {
    const { page, limit } = pageOf(query) ?? { page: 1, limit: 20 };
    const { rows, total } = await this.sets.page(domain.id, door, limit, (page - 1) * limit);
    const counts = await this.counts(rows.map(({ id }) => id));
    return { total, list: rows.map((row) => setView(row, domain, counts.get(row.id))), page, limit };
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
    if (!row) throw errors.notFound('Change set');
    const stored = await this.changes.all(id);
    const { rules } = domain.access;
    const mayRead = (state: State) => judgeRecord(domain.access, domain.id, 'read', state).allowed;
    const changes = stored.flatMap((change) => {
      const before = stateOf(change.state_before, change.value_before);
      const after = stateOf(change.state_after, change.value_after);
      const states = [before, after].filter((state) => state !== null);
      // of a change without a record nothing is known that rules could judge
      const seen = !rules || (states.length > 0 && states.every(mayRead));
      return seen ? [changeView(change, before, after, !rules)] : [];
    });
    return { ...setView(row, domain, (await this.counts([id])).get(id)), changes };
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

/** What rules write themselves names values, of which a token with rules may read just some. */
const OWN_WORDS: readonly Door[] = ['failover', 'tunnel'];

function setView(row: ChangeSet, { access }: Pick<OpenDomain, 'access'>, counts = none()): ChangeSetView {
  const { id, door, request_id, state, total, hold_reason, created_at, finished_at } = row;
  const { paused_until, cancelled_at } = row;
  const { user_id, username, token_id, token_name } = row;
  const comment = access.rules && OWN_WORDS.includes(door) ? '' : row.comment;
  const actor = { type: row.actor_type as 'user', user_id, username, token_id, token_name };
  return {
    id,
    door,
    actor,
    request_id,
    comment,
    atomic: Boolean(row.atomic),
    state,
    total,
    counts,
    hold_reason,
    created_at,
    finished_at,
    paused_until: state === 'done' ? null : paused_until,
    cancelled_at,
  };
}

/** A state of a record as it was stored; null: there was none. */
type State = ChangedRecord & { value: string };

function stateOf(json: string | null, value: string | null): State | null {
  return json === null ? null : { ...(JSON.parse(json) as ChangedRecord), value: value ?? '' };
}

/** @param withWords whether the caller may read why a change failed */
function changeView(row: StoredChange, before: State | null, after: State | null, withWords: boolean): ChangeView {
  const { position, op, record_id, state } = row;
  const error = row.error === null ? null : (JSON.parse(row.error) as NonNullable<ChangeView['error']>);
  const told = error && !withWords ? { code: error.code, msg: 'Not told to tokens with rules' } : error;
  return { position, op, record_id, state, before: shown(before), after: shown(after), error: told };
}

function shown(state: State | null): ChangeView['before'] {
  if (!state) return null;
  const { remote_id: _, extra: _extra, read_only, ...fields } = state;
  const value = shownValue(state, read_only);
  const cut = value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}… (${value.length} characters)` : value;
  return { ...fields, value: cut };
}
