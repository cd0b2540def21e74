import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../../cache/record-cache.js';
import { namesAbove } from '../../dns/names.js';
import { type ChangeRules, changeRulesOf, GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import type { SharedZone } from '../../domains/shared-zones.service.js';
import { errors } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { keyText, type SetKey } from '../../providers/kit/rrsets/record-set.js';
import { baseOf, byHost, rowsAt } from '../edits/base.js';
import type { Net } from '../edits/working-copy.js';
import type { Door } from '../history/change-set.entity.js';
import { mayRead, readsAll } from '../history/who.js';
import { closedFor, frozen, overrideOf } from './closed.js';
import {
  exists,
  floorOf,
  guardsOf,
  isBare,
  lostOf,
  type Met,
  modeOf,
  namesFor,
  POINTING,
  targetIn,
  targetOf,
  told,
  type Way,
} from './guards.js';
import { HeldNames } from './held-names.js';
import { hostsOf, type ListedChange } from './planned.js';
import { NeedsApproval, type WantedChange } from './waits.js';

/** names left without records that are asked for one by one, what points at them */
const FEW = 50;

/** targets whose zones are looked for at once */
const AT_ONCE = 50;

/** A list that is about to be carried out, or would be, under the locks of its names. */
export interface Passing {
  actor: Actor;
  domain: OpenDomain;
  /** as the domain is now */
  zone: Pick<SharedZone, 'rules' | 'records'>;
  changes: readonly ListedChange[];
  /** the records at the names of its changes */
  rows: readonly StoredRecord[];
  options: {
    door: Door;
    /** of a plan: the guards that are meant, and what its changes are called, by their positions in the list */
    plan?: PlanPass;
    /** its sets are written as a whole */
    only?: readonly SetKey[];
    ifMatch?: string | undefined;
    conditional?: boolean;
    /** why it is made in spite of a freeze, as somebody else than the actor may say it */
    override?: string | undefined;
    /** who approved it */
    approver?: object | undefined;
    follows?: boolean;
  };
}

export interface PlanPass {
  id: number;
  /** none of its changes is left out */
  whole: boolean;
  force: readonly string[];
  ids: readonly number[];
  /** it was planned with the guard `empty_document`, which its changes alone may not show any more */
  emptied: boolean;
}

/** Doors that keep names by themselves: the guard of these names is for others. */
const OWN: Partial<Record<Door, GuardKey>> = { failover: 'failover', tunnel: 'tunnel' };
/** Doors of those who have to name what they change, where the domain demands it: others read it under the locks. */
const CONDITIONAL: ReadonlySet<Door> = new Set(['api', 'token']);
/** Whether a guard is for a list: an integration cannot name `empty_document`, and deletes what it was asked to. */
const concerns = (key: GuardKey, { door, plan }: Passing['options']): boolean =>
  OWN[door] !== key && (key !== 'empty_document' || plan !== undefined || CONDITIONAL.has(door));

/**
 * The one place that decides whether a change of records may go now, whatever door it comes by: asked under the locks
 * of its names, by what the domain demands at that moment, before anything is stored or sent.
 */
@Injectable()
export class ChangeGate {
  constructor(
    private readonly cache: RecordCache,
    private readonly held: HeldNames,
    private readonly policy: DomainPolicy,
  ) {}

  /**
   * Lets a list go, with words of warning for its caller.
   * @param nets all that would be done @param assertFits throws where some of its edits do not fit
   * @returns why it goes in spite of a freeze, or outside of the windows; undefined: nothing is in its way
   * @throws AppError 403001, 409003, 423002, 428001; NeedsApproval; nothing is to be done then
   */
  async pass(list: Passing, nets: readonly Net[], assertFits: () => void): Promise<string | undefined> {
    const { actor, domain, zone, changes, options } = list;
    const { plan } = options;
    if (options.follows) return undefined;
    const override = options.override ?? overrideOf(actor);
    const closed = nets.length ? closedFor(zone.rules, nets) : null;
    if (closed && override === undefined) throw frozen(closed);
    this.admit(list);
    const way = plan ? 'plan' : 'direct';
    const keys = GUARDS.filter(
      (key) => concerns(key, options) && modeOf(zone.rules, key, way, domain.provider) !== 'off',
    );
    const guards = await this.guards(list, new Set(keys), way, plan?.emptied);
    const idOf = (i: number) => (plan ? plan.ids[changes[i]?.position ?? -1] : undefined) ?? i + 1;
    const met = told(
      guards.map((one, i) => ({ position: idOf(i), guards: one, after: changes[i]?.after ?? null })),
      zone.rules,
      way,
      domain,
    );
    const caller = actor === 'system' ? null : actor;
    assertForced(met, plan?.force ?? caller?.intent?.force ?? []);
    const warnings = met.flatMap(({ key, mode }) => (mode === 'warn' ? [key] : []));
    if (caller && warnings.length) caller.warnings = new Set([...(caller.warnings ?? []), ...warnings]);
    if (changes.length && !options.approver && waits(zone.rules, met)) {
      assertFits();
      throw new NeedsApproval(await this.wanted(list));
    }
    return closed ? override : undefined;
  }

  /** Until when changes of a list that is under way wait for the end of a freeze; null: they do not. */
  waitsUntil(
    rules: ChangeRules,
    changes: Parameters<typeof closedFor>[1],
    override: string | undefined,
  ): string | null {
    return override === undefined && changes.length ? (closedFor(rules, changes)?.until ?? null) : null;
  }

  /** @throws AppError 423002 where changes of a domain would have to wait now */
  assertOpen(domain: Pick<OpenDomain, 'change_rules'>): void {
    const closed = closedFor(changeRulesOf(domain), []);
    if (closed) throw frozen(closed);
  }

  /** Changes as a plan shows them. */
  private async wanted(list: Passing): Promise<WantedChange[]> {
    const guards = await this.guards(list, new Set(GUARDS), 'plan');
    const at = byHost(list.rows);
    const wanted: WantedChange[] = [];
    for (const [i, { op, recordId, before, after }] of list.changes.entries()) {
      if (due()) await turn();
      const states = { before, after };
      wanted.push({ op, recordId, ...states, base: baseOf(rowsAt(hostsOf(states), at)), guards: guards[i] ?? [] });
    }
    return wanted;
  }

  /** What no `force` lets go, and a dry run is refused for, too. @throws AppError 428001 */
  admit({ zone, changes, rows, options }: Passing): void {
    const { door, plan, only, ifMatch, conditional } = options;
    if (!zone.rules.require_if_match || !CONDITIONAL.has(door)) return;
    if (plan || conditional || ifMatch !== undefined) return;
    const sets = new Set(only?.map(keyText));
    const named = changes.some(({ op, position }) => op !== 'create' && position !== null);
    if (named || rows.some((row) => sets.has(keyText(row)))) throw errors.unconditional('if_match_needed');
  }

  /**
   * The guards, of some, that each of some changes meets, if these are all that is done. What a token with rules may
   * not read is not there for it. @param emptied whether they are of a document without records
   */
  async guards(
    list: Omit<Passing, 'options'>,
    keys: ReadonlySet<GuardKey>,
    way: Way,
    emptied = false,
  ): Promise<GuardKey[][]> {
    const { domain, zone, changes } = list;
    if (!changes.length || !keys.size) return changes.map(() => []);
    const rows = keys.has('dangling') ? await this.concerned(list) : list.rows;
    const elsewhere = keys.has('dangling') ? await this.elsewhere(list) : new Map<string, boolean>();
    const known = {
      ...{ name: domain.name, records: zone.records, rows: readable(list, rows), elsewhere },
      ...{ held: await this.held.of(domain, keys), ttlFloor: floorOf(zone.rules) },
      emptied: keys.has('empty_document') && (emptied || (await this.leavesBare(list, way))),
    };
    return guardsOf(known, changes, keys);
  }

  /**
   * Whether a list deletes the last records of a zone but those that a bare one has. A write of one record set names
   * what it deletes: of writes only those of several sets count.
   */
  private async leavesBare(list: Omit<Passing, 'options'>, way: Way): Promise<boolean> {
    const { domain, zone, changes } = list;
    if (changes.some(({ after }) => after && !isBare(after))) return false;
    const lost = changes.flatMap(({ before }) => (before && !isBare(before) ? [before] : []));
    const sets = new Set(lost.map(keyText));
    if (sets.size < (way === 'plan' ? 1 : 2)) return false;
    const apex = readable(list, await this.cache.those(domain.id, 'host', ['@']));
    return zone.records - apex.filter(isBare).length <= lost.length;
  }

  /**
   * The full names that changes point at in other zones of ours, zones within this one too, and whether they exist
   * there: in those that the caller may read whole, since the guard tells of them.
   */
  private async elsewhere({ actor, domain, changes }: Omit<Passing, 'options'>): Promise<ReadonlyMap<string, boolean>> {
    const there = new Map<string, boolean>();
    const me = actor === 'system' ? null : actor.principal;
    if (!me || !readsAll(actor, domain)) return there;
    const targets = [...new Set(changes.flatMap(({ after }) => (after?.enabled ? (targetOf(after) ?? []) : [])))];
    for (let i = 0; i < targets.length; i += AT_ONCE) {
      const names = targets.slice(i, i + AT_ONCE);
      const zones = await this.policy.readable(me, [...new Set(names.flatMap(namesAbove))]);
      const known = new Set(zones.map(({ name }) => name));
      const zoneOf = new Map(names.map((name) => [name, namesAbove(name).find((above) => known.has(above))]));
      for (const zone of zones) {
        const own = zone.name === domain.name ? [] : names.filter((name) => zoneOf.get(name) === zone.name);
        const live = await this.liveIn(zone, own);
        for (const name of own) there.set(name, there.get(name) || exists(hostIn(zone, name), live));
      }
    }
    return there;
  }

  /** The hosts with live records, of those that make some names of a zone exist. */
  private async liveIn(zone: OpenDomain, names: readonly string[]): Promise<ReadonlySet<string>> {
    const hosts = new Set(names.flatMap((name) => namesFor(hostIn(zone, name))));
    const rows = hosts.size ? await this.cache.those(zone.id, 'host', [...hosts]) : [];
    return new Set(rows.flatMap(({ enabled, host }) => (enabled ? [host] : [])));
  }

  /** The records at the names of changes and of their targets, and what points at the names that lose all records. */
  private async concerned({ domain, changes, rows }: Omit<Passing, 'options'>): Promise<readonly StoredRecord[]> {
    const targets = changes.flatMap(({ after }) => (after ? (targetIn(after, domain.name) ?? []) : []));
    const own = new Set(changes.flatMap(hostsOf));
    const hosts = new Set([...targets, ...own].flatMap(namesFor));
    const more = await this.cache.those(
      domain.id,
      'host',
      [...hosts].filter((host) => !own.has(host)),
    );
    const near = [...rows, ...more];
    const lost = lostOf(near, changes);
    if (!lost.length) return near;
    const ends = lost.length > FEW ? [domain.name] : lost.map((host) => (host === '@' ? '' : `${host}.`) + domain.name);
    const known = new Set(near.map(({ id }) => id));
    const pointing = await this.cache.endingIn(domain.id, POINTING, ends);
    return [...near, ...pointing.filter(({ id }) => !known.has(id))];
  }
}

/** The host of a full name of a zone. */
const hostIn = ({ name: zone }: OpenDomain, name: string): string => name.slice(0, -zone.length - 1) || '@';

/** What the caller may read of some rows. */
const readable = ({ actor, domain }: Pick<Passing, 'actor' | 'domain'>, rows: Passing['rows']) =>
  readsAll(actor, domain) ? rows : rows.filter(mayRead(actor, domain));

/** Whether a list waits for somebody's approval. */
const waits = ({ approval }: ChangeRules, met: readonly Met[]): boolean =>
  approval.for === 'all' || (approval.for === 'guarded' && met.length > 0);

/** @throws AppError 409003 */
function assertForced(met: readonly Met[], force: readonly string[]): void {
  const guards = met.filter(({ key, mode }) => mode === 'force' && !force.includes(key));
  if (guards.length)
    throw errors.guarded('guards_not_named', { guards: guards.map(({ key }) => key).join(', ') }, { guards });
}
