import { Injectable } from '@nestjs/common';
import { errors } from '../platform/common/errors.js';
import type { AuditFilter, AuditList, AuditQuery, AuditView } from './audit.dto.js';
import {
  AuditLogsRepository,
  type Condition,
  entry,
  FAILED_LOGIN,
  type Found,
  type Indexed,
  type LoginGroup,
  orderOf,
  type Page,
  type ShownRow,
} from './audit-logs.repository.js';
import { AuditLinker } from './linker.service.js';
import { isNarrowed, matchedBy, type Search, searchOf } from './search.js';
import { parsed } from './states.js';
import { type Pending, StrangersLog } from './strangers-log.service.js';

const DEFAULT_LIMIT = 20;
/** entries up to which a page counts: a log may have millions */
const COUNTED = 5_000;
/** entries that one page examines one by one: as many in a small log as in a large one */
const EXAMINED = 1_000;
/** rows of one query of an export: with more, their garbage lives longer */
const BATCH = 200;

/** The part of the log that one page is taken from. */
interface Part {
  /** the entries to choose from; only the newest `EXAMINED` of them, where there are conditions */
  found: Found;
  /** what each of them has to meet */
  conditions: Condition[];
  /** entries that were written then and before are left out; null: none is */
  before: string | null;
}

interface Listed {
  rows: ShownRow[];
  total: number;
  /** false: there are more */
  exact: boolean;
}

/** The number of all entries, if the page is the last one; null otherwise. */
const totalOf = (rows: readonly ShownRow[], { page, limit }: Page): number | null =>
  rows.length < limit && (rows.length || page === 1) ? (page - 1) * limit + rows.length : null;

/** How many occurrences an entry stands for, by its state. */
const countOf = (state: string | null): number => {
  const { count } = (parsed(state) ?? {}) as { count?: unknown };
  return typeof count === 'number' ? count : 1;
};

const view = (row: ShownRow): AuditView => ({
  id: row.id,
  seq: row.seq,
  created_at: row.created_at,
  actor: {
    type: row.actor_type,
    user_id: row.user_id,
    username: row.username,
    token_id: row.token_id,
    token_name: row.token_name,
  },
  action: row.action,
  domain: row.domain,
  domain_id: row.domain_id,
  target: parsed(row.target) as AuditView['target'],
  before: parsed(row.state_before) as AuditView['before'],
  after: parsed(row.state_after) as AuditView['after'],
  result: row.result,
  error: row.error,
  ip: row.ip,
  user_agent: row.user_agent,
  request_id: row.request_id,
  change_set_id: row.change_set_id,
  door: row.door,
  prev_hash: row.prev_hash,
  hash: row.hash,
});

@Injectable()
export class AuditReader {
  constructor(
    private readonly logs: AuditLogsRepository,
    private readonly linker: AuditLinker,
    private readonly strangers: StrangersLog,
  ) {}

  /**
   * Newest first. Links what is not linked yet, so that all that is written when it is called is included.
   * @param zone where days begin
   * @throws AppError 400001
   */
  async list(query: AuditQuery, zone: string): Promise<AuditList & { page: number; limit: number }> {
    const search = searchOf(query, zone);
    const { page = 1, limit = DEFAULT_LIMIT } = query;
    const order = orderOf(query.sort);
    await this.linker.linkIfPossible();
    const part = await this.partOf(search);
    const asked = { page, limit };
    const { rows, total, exact } = await (part.conditions.length
      ? this.examined(part, order, asked)
      : this.found(part, order, asked));
    const total_exact = exact && part.before === null;
    return { total, total_exact, next_until: part.before, list: rows.map(view), page, limit };
  }

  /**
   * Where one index finds all, that is all of it. Otherwise the newest `EXAMINED` of the index that has the fewest:
   * what a search takes depends neither on the size of the log nor on where in it the matches are.
   */
  private async partOf({ times, indexed, others }: Search): Promise<Part> {
    if (!others.length && indexed.length <= 1)
      return { found: { times, by: indexed[0] }, conditions: [], before: null };
    let best: { by: Indexed | undefined; before: string | null } | undefined;
    for (const by of indexed.length ? indexed : [undefined]) {
      const before = await this.logs.createdAtBehind({ times, by }, EXAMINED);
      if (!best || (best.before !== null && (before === null || before < best.before))) best = { by, before };
      if (before === null) break;
    }
    const { by, before = null } = best ?? {};
    // without the entries of the last moment, of which there may be more: they belong to the next part
    const end = before === null ? [] : [entry.writtenAfter(before)];
    const conditions = [...end, ...indexed.filter((one) => one !== by), ...others].map(entry.looked);
    return { found: { times, by }, conditions, before };
  }

  /** A page of what one index finds, all of it; without any filter it is counted by the numbers, which have no gaps. */
  private async found({ found }: Part, order: string, page: Page): Promise<Listed> {
    const rows = await this.logs.page(found, order, page);
    if (!isNarrowed(found)) return { rows, total: await this.logs.countAll(), exact: true };
    const n = totalOf(rows, page) ?? (await this.logs.count(found, COUNTED + 1));
    return { rows, total: Math.min(n, COUNTED), exact: n <= COUNTED };
  }

  /** A page of what matches of the newest entries that one index finds. */
  private async examined({ found, conditions }: Part, order: string, page: Page): Promise<Listed> {
    const rows = await this.logs.filteredPage(found, conditions, EXAMINED, order, page);
    const total = totalOf(rows, page) ?? (await this.logs.countFiltered(found, conditions, EXAMINED));
    return { rows, total, exact: true };
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<AuditView> {
    await this.linker.linkIfPossible();
    const row = await this.logs.get(id);
    if (!row) throw errors.notFound('audit_entry');
    return view(row);
  }

  /**
   * All entries that match, in the order of their numbers, some at a time: those that are linked when it begins.
   * @throws AppError 400001, before the first ones
   */
  async *all(query: AuditFilter, zone: string): AsyncGenerator<AuditView[]> {
    const { times, indexed, others } = searchOf(query, zone);
    await this.linker.linkIfPossible();
    const end = await this.logs.newestSeq();
    for (let last = 0; ; ) {
      const rows = await this.logs.batch([...times, ...indexed, ...others], last, end, BATCH);
      if (rows.length) yield rows.map(view);
      if (rows.length < BATCH) return;
      last = rows.at(-1)?.seq as number;
    }
  }

  /**
   * When matching entries were written, since a moment, the newest first: at most `most`, each with the number of
   * occurrences that it stands for (what an anonymous caller repeated within a minute is one entry).
   * @throws Error when entries cannot be linked: without them, nobody can say what was written
   */
  async timesOf(
    match: Parameters<typeof matchedBy>[0],
    since: string,
    most: number,
  ): Promise<{ created_at: string; count: number }[]> {
    await this.linker.link();
    const rows = await this.logs.times([entry.writtenAfter(since), ...matchedBy(match)], most);
    return rows.map(({ created_at, repeated }) => ({ created_at, count: countOf(repeated) }));
  }

  /** Sign-ins (`auth.login`) and failed ones (`auth.login_failed`) by hour of UTC (`2026-01-02T03`), since a moment. */
  async loginsByHour(since: string): Promise<{ hour: string; action: string; count: number }[]> {
    const rows = await this.logins('hour', since, ({ created_at }) => created_at.slice(0, 13));
    return rows.map(({ by, ...counts }) => ({ hour: by, ...counts }));
  }

  /** The same by client address. */
  async loginsByAddress(since: string): Promise<{ ip: string; action: string; count: number }[]> {
    const rows = await this.logins('ip', since, ({ ip }) => ip);
    return rows.map(({ by, ...counts }) => ({ ip: by, ...counts }));
  }

  /**
   * A row that stands for several failures counts as many; failures that have no row yet count, too. A group may occur
   * several times.
   */
  private async logins(
    group: LoginGroup,
    since: string,
    of: (pending: Pending) => string,
  ): Promise<{ by: string; action: string; count: number }[]> {
    await this.linker.linkIfPossible();
    const rows = await this.logs.countLogins(group, since);
    const several = await this.logs.countFailedLogins(group, since);
    const pending = this.strangers.pending(FAILED_LOGIN);
    return [
      ...rows.map(({ grouped, action, count }) => ({ by: grouped, action, count })),
      ...several.map(({ grouped, state_after, count }) => ({
        by: grouped,
        action: FAILED_LOGIN,
        count: count * (countOf(state_after) - 1),
      })),
      ...pending.map((one) => ({ by: of(one), action: FAILED_LOGIN, count: one.count })),
    ];
  }
}
