import { Injectable } from '@nestjs/common';
import { DnsRecordsRepository } from '../../cache/dns-records.repository.js';
import { type HeldRecord, type ListedVersion, PastRepository } from '../../changes/history/past.repository.js';
import { type ChangedState, sameState, stateOf } from '../../changes/history/states.js';
import type { PrintedRecord } from '../../documents/document.js';
import { printDocument } from '../../documents/print-document.js';
import { judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { errors } from '../../platform/common/errors.js';
import { pageOf } from '../../platform/common/paging.dto.js';
import { due, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import { ownWords, shownState } from './shown-state.js';
import type {
  Difference,
  PastRecord,
  PastRecordList,
  VersionDiff,
  VersionList,
  VersionQuery,
  VersionView,
} from './version.dto.js';

/** records that are read at once */
const BATCH = 500;
/** records, or differences, that one answer has at most */
const MAX = 10_000;

/** A record of a version. */
export interface Past {
  id: number;
  state: ChangedState;
}

/** What became of a record between two versions. */
interface Between {
  recordId: number;
  before: ChangedState | null;
  after: ChangedState | null;
}

/** The versions of a domain's records, for the API. */
@Injectable()
export class VersionReader {
  constructor(
    private readonly past: PastRepository,
    private readonly rows: DnsRecordsRepository,
  ) {}

  /** Newest first. */
  async list(domain: OpenDomain, query: VersionQuery): Promise<VersionList & { page: number; limit: number }> {
    const { page, limit } = pageOf(query) ?? { page: 1, limit: 20 };
    const { rows, total } = await this.past.page(domain.id, limit, (page - 1) * limit);
    return { total, list: rows.map((row) => versionView(row, domain)), page, limit };
  }

  /**
   * All records as of a version. @returns `asked`: the page that was asked for; null: the list is whole
   * @throws AppError 404001; 400001 where there are more than fit one answer
   */
  async at(
    domain: OpenDomain,
    version: number,
    query: VersionQuery,
  ): Promise<PastRecordList & { asked: ReturnType<typeof pageOf> }> {
    await this.assertThere(domain, version);
    const asked = pageOf(query);
    const { page, limit } = asked ?? { page: 1, limit: MAX };
    const skip = (page - 1) * limit;
    const found = await (domain.access.rules
      ? this.allowed(domain, version, limit, skip)
      : this.all(domain, version, limit, skip));
    if (!asked && found.total > MAX) throw tooMany('page', found.total);
    return { total: found.total, list: found.list.map(pastView), asked };
  }

  /** All records of a version, whoever asks. @throws AppError 404001 */
  async whole(domain: OpenDomain, version: number): Promise<Past[]> {
    await this.assertThere(domain, version);
    const list: Past[] = [];
    for await (const page of this.pages(domain.id, version)) list.push(...page);
    return list;
  }

  /** A version as a zone file, as exports have it: the records that the asker may read. @throws AppError 404001 */
  async text(domain: OpenDomain, version: number): Promise<AsyncGenerator<string>> {
    const hosts = new Map<string, PrintedRecord[]>();
    for (const { state } of await this.whole(domain, version)) {
      if (due()) await turn();
      if (!maySee(domain, state)) continue;
      const list = hosts.get(state.host);
      if (list) list.push({ ...state, readOnly: state.read_only });
      else hosts.set(state.host, [{ ...state, readOnly: state.read_only }]);
    }
    const pages = async function* () {
      for (const host of [...hosts.keys()].toSorted()) yield hosts.get(host) ?? [];
    };
    return printDocument('zonefile', domain.name, pages());
  }

  /** What became of each record from one version to another, maybe an older one. @throws AppError 404001, 400001 */
  async diff(domain: OpenDomain, from: number, to: number): Promise<VersionDiff> {
    for (const version of [from, to]) await this.assertThere(domain, version);
    const changes: Difference[] = [];
    let hidden = 0;
    for await (const { recordId, before, after } of this.between(domain.id, from, to)) {
      if (due()) await turn();
      if (![before, after].every((state) => state === null || maySee(domain, state))) hidden++;
      else changes.push(differenceView(recordId, before, after));
      if (changes.length > MAX) throw tooMany('to', changes.length);
    }
    return { from, to, changes, hidden };
  }

  /** What became of each record from one version to another, maybe an older one, whoever asks. */
  async *between(domainId: number, from: number, to: number): AsyncGenerator<Between> {
    const [older, newer] = from < to ? [from, to] : [to, from];
    const next = (after: number) => this.past.spans(domainId, older, newer, after, BATCH);
    for (let spans = await next(0); spans.length; spans = await next(spans.at(-1)?.record_id ?? 0)) {
      const states = await this.past.states([
        ...new Set(spans.flatMap(({ first_id, last_id }) => [first_id, last_id])),
      ]);
      for (const { record_id: recordId, first_id, last_id } of spans) {
        const [first, last] = [states.get(first_id), states.get(last_id)];
        if (!first || !last) continue;
        const was = stateOf(first.state_before, first.value_before);
        const is = stateOf(last.state_after, last.value_after);
        const [before, after] = from < to ? [was, is] : [is, was];
        if (!sameState(before, after)) yield { recordId, before, after };
      }
    }
  }

  private async all({ id }: OpenDomain, version: number, limit: number, skip: number) {
    const { list } = await this.page(id, version, 0, limit, skip);
    return { total: await this.past.countHeld(id, version), list };
  }

  /** The same for a token with rules: those that it may read. */
  private async allowed(domain: OpenDomain, version: number, limit: number, skip: number) {
    const list: Past[] = [];
    let total = 0;
    for await (const page of this.pages(domain.id, version)) {
      for (const one of page) {
        if (due()) await turn();
        if (!maySee(domain, one.state)) continue;
        if (total >= skip && list.length < limit) list.push(one);
        total++;
      }
    }
    return { total, list };
  }

  /** All records of a version, whoever asks, a page at a time. */
  async *pages(domainId: number, version: number): AsyncGenerator<Past[]> {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const { list, last } = await this.page(domainId, version, after, BATCH);
      yield list;
      after = last;
    }
  }

  /**
   * Some of the records that a version held. Those that were as it held them may be changed before they are read: then
   * the change says what they were.
   * @param after only those with ids beyond this one @returns `last`: the id of the last one
   */
  private async page(domainId: number, version: number, after: number, limit: number, skip = 0) {
    const newest = await this.past.newest(domainId);
    const held = await this.past.held(domainId, version, after, limit, skip);
    const present = held.flatMap((one) => (one.change_id === null ? one.record_id : []));
    const rows = new Map((await this.rows.those(domainId, 'id', present)).map((row) => [row.id, row]));
    const isSteady = newest === (await this.past.newest(domainId));
    const since = isSteady ? new Map<number, number>() : await this.past.firstBehind(domainId, version, present);
    const changeOf = ({ record_id, change_id }: HeldRecord) => change_id ?? since.get(record_id);
    const states = await this.past.states(held.flatMap((one) => changeOf(one) ?? []));
    const list = held.flatMap((one): Past[] => {
      const { record_id: id } = one;
      const stored = states.get(changeOf(one) ?? 0);
      const state = stored ? stateOf(stored.state_before, stored.value_before) : (rows.get(id) ?? null);
      return state ? [{ id, state: { ...state, extra: state.extra ?? null } }] : [];
    });
    return { list, last: held.at(-1)?.record_id };
  }

  private async assertThere({ id }: OpenDomain, version: number): Promise<void> {
    if (!(await this.past.one(id, version))) throw errors.notFound('version');
  }
}

const maySee = ({ id, access }: OpenDomain, state: ChangedState): boolean =>
  judgeRecord(access, id, 'read', state).allowed;

const tooMany = (field: string, total: number) =>
  errors.field(
    field,
    say('is required: {total} records match, more than the {max} that fit one answer', { total, max: MAX }),
  );

function versionView(row: ListedVersion, { access: { rules } }: OpenDomain): VersionView {
  const { version, change_set_id, created_at, user_id, username, token_id, token_name } = row;
  const door = row.door ?? 'provider';
  return {
    ...{ version, change_set_id, created_at, door, inherited: Boolean(row.inherited) },
    actor: { type: (row.actor_type ?? 'system') as 'user', user_id, username, token_id, token_name },
    comment: rules && ownWords(door) ? '' : (row.comment ?? ''),
    counts: rules ? null : { create: row.created, update: row.updated, delete: row.deleted },
  };
}

const pastView = ({ id, state }: Past): PastRecord => ({ record_id: id, ...shownState(state) });

function differenceView(record_id: number, before: ChangedState | null, after: ChangedState | null): Difference {
  const { host, type } = (after ?? before) as ChangedState;
  const op = after ? (before ? 'update' : 'create') : 'delete';
  return { op, record_id, host, type, before: before && shownState(before), after: after && shownState(after) };
}
