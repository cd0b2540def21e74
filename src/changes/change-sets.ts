import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../access/access.js';
import type { Maker } from '../access/maker.js';
import type { Actor } from '../audit/audit.service.js';
import type { StoredRecord } from '../cache/record-cache.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainStateRepository } from '../domains/domain-state.repository.js';
import { now } from '../platform/common/clock.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import { Db, type SqlValue } from '../platform/database/db.js';
import { clipped, OutboundError } from '../platform/outbound/outbound-error.js';
import type { Base } from './edits/base.js';
import type { Entry } from './edits/names.js';
import type { Net, Planned } from './edits/working-copy.js';
import type { PlanPass } from './gate/change-gate.service.js';
import type { ChangeState, Door } from './history/change-set.entity.js';
import { ChangeSetsRepository, NOBODY } from './history/change-sets.repository.js';
import { type ChangeEnd, RecordChangesRepository } from './history/record-changes.repository.js';
import { storedState } from './history/states.js';
import type { Step } from './history/versions.js';

/** What is said of a list beside its changes. */
export interface ListOptions {
  door: Door;
  comment: string;
  /** one edit that does not fit refuses all */
  atomic: boolean;
  /** it is refused where the provider does not carry it out in one piece, whole or not at all */
  inOnePiece?: boolean;
  /** one edit that does not fit refuses all, though they are carried out one by one */
  strict?: boolean;
  /** it is stored whole first, however short, and goes on after a crash */
  lasting?: boolean;
  /** what has to stand at some names when the list is carried out */
  base?: Base;
  /** it was shown as a plan before */
  plan?: PlanPass;
  /** in whose name it waits for an approval, where nobody asks for it at this moment */
  maker?: Maker | undefined;
  /** what it is for: of what waits for an approval just the newest does */
  subject?: string;
  /** who approved it: it does not wait once more */
  approver?: Pick<Principal, 'userId' | 'username'> | undefined;
  /** it repeats in the old zone of a moved domain what its gate has let go there */
  follows?: boolean;
  /** why it is made in spite of a freeze */
  override?: string | undefined;
  /** what has to be stored with the list, in its transaction: what it throws refuses the list */
  stored?: (changeSet: number, manager: EntityManager) => Promise<void>;
  /** sets of which no edit is carried out where the provider holds other records of them than the cache */
  only?: readonly Pick<StoredRecord, 'host' | 'type' | 'line'>[];
  /** what the header says that the domain's records are, as a whole: see `revisionTag` */
  ifMatch?: string | undefined;
  /** the caller has named what it changes, in whatever way its route compares it */
  conditional?: boolean;
}

/** How a list is carried out. */
export interface How {
  background: boolean;
  /** nothing of it is begun: somebody takes it up, piece by piece */
  left: boolean;
  /** under the lock of the zone, not those of its names */
  whole: boolean;
  /** the domain's last synchronisation when its rows were read */
  syncedAt: string | null;
  /** the account's credentials, as stored, that the provider is reached with */
  sealed: string | undefined;
  /** who holds its locks: `Held.owner` */
  owner: string;
}

/** What became of the change at one position of a list. */
export interface Ended {
  position: number;
  state: ChangeState;
  /** of the cached record; null after a deletion, or when there is none */
  recordId: number | null;
  /** the same as it was written */
  row: StoredRecord | null;
  error: AppError | null;
  /** of an edit that is part of a stored difference: what was there before the first one, and after the last one */
  step?: Partial<Pick<Step, 'before' | 'after'>>;
}

/** The way by which a request comes in. */
export function doorOf(actor: Actor): Door {
  if (actor === 'system') return 'job';
  if (actor.door) return 'door';
  return actor.principal?.token ? 'token' : 'api';
}

/** characters of an error that are kept, and of its message */
const MAX_ERROR = 4000;
const MAX_WORDS = 1000;
/** ms of the first pause of a list whose provider is unavailable, and of the longest */
const PAUSE_MS = 5_000;
const PAUSE_MAX_MS = 300_000;
/** Somebody else has done a part of what was planned: the transaction is rolled back. */
class Overtaken extends Error {}

/** The life of a change set while its list is carried out. */
@Injectable()
export class ChangeSets {
  constructor(
    private readonly db: Db,
    private readonly sets: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly state: DomainStateRepository,
  ) {}

  /**
   * Stores a list before the provider is asked. Edits that did not fit are in it as failed, those that leave all as it
   * is as applied.
   * @param first the nets that are sent at once
   * @returns its id; null when the cache has followed the provider since the list was planned, or the account has other
   * credentials by now, which may be those of another server
   * @throws AppError 404001 for a domain that was deleted meanwhile
   */
  async open(
    actor: Actor,
    domain: OpenDomain,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    { background, left, whole, syncedAt, sealed, owner, door, comment, atomic, stored, ...more }: ListOptions & How,
  ): Promise<number | null> {
    const caller = actor === 'system' ? null : actor;
    const { principal } = caller ?? { principal: null };
    const set = {
      domain_id: domain.id,
      domain: domain.name,
      door,
      door_key: caller?.door ?? null,
      comment,
      atomic,
      background,
      whole,
      actor_type: principal?.kind ?? (caller ? 'user' : 'system'),
      user_id: principal?.userId ?? null,
      username: principal?.username ?? null,
      token_id: principal?.token?.id ?? null,
      token_name: principal?.token?.name ?? null,
      request_id: caller?.requestId ?? '',
      maker_id: null,
      maker_token_id: null,
      hold_reason: null,
      ...permitted(more),
      planned: more.plan !== undefined,
      confirmed_at: null,
      owner: left ? NOBODY : owner,
      state: 'open' as const,
      revision: null,
      total: planned.length,
      created_at: now(),
      finished_at: null,
    };
    const expected = expectedOf(nets);
    const sent = new Set(first.map((net) => net.entry));
    const rows: SqlValue[][] = [];
    for (const edit of planned) {
      if (due()) await turn();
      rows.push([...rowOf(edit, sent, expected, set.created_at), domain.id, null]);
    }
    return this.db.transaction(async (manager) => {
      // a synchronisation that ends from now on sees the list; one that ended since the rows were read does not know it
      const last = await this.state.lastSync(domain.id, manager);
      if (!last) throw errors.notFound('domain');
      if (last.synced_at !== syncedAt || last.sealed !== sealed) return null;
      const id = await this.sets.insert(set, manager);
      await this.changes.insert(id, rows, manager);
      await stored?.(id, manager);
      return id;
    });
  }

  /**
   * Takes up a list that another process left, under its locks.
   * @param planned what is left of it, judged again
   * @param nets what of it is to be done
   * @returns whether it was still to be taken up, and nobody has done any of it since it was looked at
   */
  async takeUp(
    id: number,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    { whole, owner }: Pick<How, 'whole' | 'owner'>,
  ): Promise<boolean> {
    const expected = expectedOf(nets);
    const positions = planned.map(({ position }) => position);
    const taken = this.db.transaction(async (manager) => {
      if (!(await this.sets.takeUp(id, owner, whole, now(), manager))) return false;
      // another process may have taken it up, and left it again, since these were planned
      if ((await this.changes.countPending(id, positions, manager)) < positions.length) throw new Overtaken();
      const ended = planned.flatMap(({ position, error, entry }): Ended[] => {
        const state = stateOf(error, entry, expected);
        return state === 'pending' ? [] : [{ position, state, recordId: null, row: null, error }];
      });
      await this.end(manager, id, ended, '');
      await this.trying(manager, id, first);
      return true;
    });
    return taken.catch((error: unknown) => {
      if (error instanceof Overtaken) return false;
      throw error;
    });
  }

  /** These are sent next. */
  async trying(manager: EntityManager, id: number, nets: readonly Net[]): Promise<void> {
    const positions = nets.flatMap((net) => net.entry.positions);
    if (positions.length) await this.changes.trying(id, positions, now(), manager);
  }

  /**
   * @param settleAfter of those without a clear end: only a list begun later proves that they were not applied
   * @param version of the domain, that those with a step are part of
   */
  async end(
    manager: EntityManager,
    id: number,
    ended: readonly Ended[],
    settleAfter: string,
    version: number | null = null,
  ): Promise<void> {
    const alike = new Map<string, Ended[]>();
    for (const one of ended) {
      const key = `${one.state} ${Boolean(one.step)} ${lateOf(one)} ${one.error ? wordsOf(one.error) : ''}`;
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    for (const list of alike.values()) {
      const [one] = list as [Ended];
      const { state, error } = one;
      const settle_after = state === 'unknown' ? settleAfter : null;
      const words = error && wordsOf(error);
      const end = { state, error: words, settle_after, late: lateOf(one), version: one.step ? version : null };
      await this.changes.end(id, list.map(resultOf), end, manager);
    }
  }

  /**
   * Locks the domain's row. A synchronisation that lists meanwhile sees by the revision that names have changed.
   * @param differs whether records of it are stored otherwise now: else its revision stays @returns its revision
   */
  async touch(manager: EntityManager, domainId: number, differs: boolean): Promise<number> {
    if (differs) return this.state.raiseRevision(domainId, manager);
    await this.state.hold(domainId, manager);
    return this.state.revision(domainId, manager);
  }

  /**
   * @param last nothing more of it is tried now; `inDoubt`: some change may have no clear end, or be left
   * @returns whether changes are left, which somebody takes up
   */
  async commit(
    manager: EntityManager,
    id: number,
    revision: number,
    last: boolean,
    inDoubt: boolean,
  ): Promise<boolean> {
    const states = last && inDoubt ? await this.changes.openStates(id, manager) : new Set<ChangeState>();
    const left = states.has('pending');
    const state = states.has('unknown') ? 'unknown' : left ? 'open' : 'done';
    const end = last ? { state, finished_at: state === 'done' ? now() : null } : {};
    const owner = left ? { owner: NOBODY } : {};
    await this.sets.update(id, { ...end, ...owner, revision }, manager);
    return left;
  }

  /** Nothing more of it is begun: why, of what was not. @returns how many changes these were */
  notTried(manager: EntityManager, id: number, error: AppError): Promise<number> {
    return this.changes.notTried(id, wordsOf(error), manager);
  }

  /** Ends a list that nobody works on. @param error why what was not begun never will be */
  async giveUp(id: number, error: AppError): Promise<void> {
    await this.db.transaction(async (manager) => {
      if ((await this.sets.ownerOf(id, manager)) !== NOBODY) return;
      await this.notTried(manager, id, error);
      await this.close(manager, id);
    });
  }

  /** Derives the state of a list that nobody works on from those of its changes. */
  async close(manager: EntityManager, id: number): Promise<void> {
    const { unknown, pending } = await this.counts(manager, id);
    const next = unknown ? 'unknown' : pending ? 'open' : 'done';
    await this.sets.close(id, next, next === 'done' ? now() : null, manager);
  }

  /** Pauses a list that nobody works on and that could not be continued. @returns until when */
  async rest(id: number): Promise<string | null> {
    return this.db.transaction(async (manager) =>
      (await this.sets.unpause(id, manager)) ? this.pause(manager, id, true, false) : null,
    );
  }

  /** Pauses a list that nobody works on until changes are not frozen any more; its time begins anew then. */
  async freeze(id: number, until: string): Promise<void> {
    await this.db.transaction(async (manager) => {
      if ((await this.sets.ownerOf(id, manager)) !== NOBODY) return;
      await this.sets.update(id, { paused_until: until, confirmed_at: until }, manager);
    });
  }

  /**
   * How long a list waits for its provider, longer and longer while nothing of it is applied; where nothing fails, it
   * goes on. @returns until when
   */
  async pause(manager: EntityManager, id: number, fails: boolean, applied: boolean): Promise<string | null> {
    const before = applied ? 0 : await this.sets.pauses(id, manager);
    const until = fails ? now(Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** before)) : null;
    await this.sets.pause(id, until, fails ? Math.min(before + 1, 20) : 0, manager);
    return until;
  }

  /** What became of its changes so far, by their positions. */
  ended(id: number): Promise<Map<number, ChangeEnd>> {
    return this.changes.ends(id);
  }

  /** Whether something of it is not done yet. */
  async goesOn(id: number): Promise<'now' | 'held' | false> {
    const row = await this.sets.goesOn(id);
    return row ? (row.hold_reason === null ? 'now' : 'held') : false;
  }

  /** Whether nothing more of it shall be begun. */
  isCancelled(manager: EntityManager, id: number): Promise<boolean> {
    return this.sets.isCancelled(id, manager);
  }

  /** The lowest position that a change of it has. */
  lowest(manager: EntityManager, id: number): Promise<number> {
    return this.changes.lowest(id, manager);
  }

  /** Its changes by their states. */
  async counts(manager: EntityManager, id: number): Promise<Record<ChangeState, number>> {
    const rows = await this.changes.byState(id, manager);
    const none = { pending: 0, applied: 0, failed: 0, unknown: 0, not_tried: 0 };
    return { ...none, ...Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)])) };
  }
}

/** Who approved a list, and why it is made in spite of a freeze. */
const permitted = ({ approver, override }: Pick<ListOptions, 'approver' | 'override'>) => ({
  approver_id: approver?.userId ?? null,
  approver: approver?.username ?? null,
  override_reason: override ?? null,
});

/** Whether the provider may still carry it out. */
const lateOf = ({ state, error }: Ended) => (state === 'unknown' && error instanceof OutboundError ? error.late : null);

/** What is stored of a change that has ended. */
function resultOf({ position, recordId: record_id, step }: Ended) {
  const [state_before, value_before] = storedState(step?.before ?? null);
  const [state_after, value_after] = storedState(step?.after ?? null);
  return { position, record_id, state_before, value_before, state_after, value_after };
}

const expectedOf = (nets: readonly Net[]): ReadonlyMap<Entry | null, string | null> =>
  new Map(nets.map((net) => [net.entry, net.expected]));

/** Of an edit that is judged: `pending` where something is to be done. */
const stateOf = (error: AppError | null, entry: Entry | null, expected: ReadonlyMap<Entry | null, unknown>) =>
  error ? 'failed' : expected.has(entry) ? 'pending' : 'applied';

/** All columns but the first, and those of the version. */
function rowOf(
  { position, edit, error, entry, before, after }: Planned,
  sent: ReadonlySet<unknown>,
  expected: ReadonlyMap<Entry | null, string | null>,
  at: string,
): SqlValue[] {
  const shown = after ?? before;
  const wanted = 'record' in edit ? edit.record : null;
  const recordId = entry?.original?.id ?? ('id' in edit ? edit.id : null);
  return [
    position,
    edit.op,
    recordId,
    (shown ?? wanted)?.host ?? '@',
    before && after && before.host !== after.host ? before.host : null,
    (shown ?? wanted)?.type ?? '',
    ...storedState(before),
    ...storedState(after),
    entry ? (expected.get(entry) ?? null) : null,
    stateOf(error, entry, expected),
    error && wordsOf(error),
    entry && sent.has(entry) ? at : null,
  ];
}

/** A failure as it is kept: cut, since thousands of one list may have it. */
function wordsOf({ code, message, data }: AppError): string {
  const msg = clipped(message, MAX_WORDS);
  const whole = JSON.stringify({ code, msg, data });
  return whole.length > MAX_ERROR ? JSON.stringify({ code, msg }) : whole;
}
