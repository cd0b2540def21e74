import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/audit.service.js';
import { RecordCache } from '../../cache/record-cache.js';
import { GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import type { SharedZone } from '../../domains/shared-zones.service.js';
import { errors } from '../../platform/common/errors.js';
import type { Door } from '../history/change-set.entity.js';
import { mayRead } from '../history/who.js';
import { floorOf, guardsOf, lostOf, type Met, modeOf, namesFor, POINTING, type Row, targetIn, told } from './guards.js';
import { HeldNames } from './held-names.js';
import { type Change, changesOf, hostsOf } from './planned.js';

/** names left without records that are asked for one by one, what points at them */
const FEW = 50;

/** What a list is judged by. */
interface Judged {
  actor: Actor;
  domain: OpenDomain;
  zone: Pick<SharedZone, 'rules' | 'records'>;
  changes: readonly Change[];
  /** the records at the names of its changes */
  rows: readonly Row[];
}

/** A list that is about to be carried out, under the locks of its names. */
interface Passing extends Omit<Judged, 'changes'> {
  list: Parameters<typeof changesOf>[0];
  door: Door;
  /** of a plan: the guards that are meant, and what its changes are called, by their positions in the list */
  plan?: PlanPass | undefined;
}

export interface PlanPass {
  force: readonly string[];
  ids: readonly number[];
}

/** Doors that keep names by themselves: the guard of these names is for others. */
const OWN: Partial<Record<Door, GuardKey>> = { failover: 'failover', tunnel: 'tunnel' };

/**
 * The one place that decides whether a change of records may go now, whatever door it comes by: asked under the locks
 * of its names, by what the domain demands at that moment, before anything is stored or sent.
 */
@Injectable()
export class ChangeGate {
  constructor(
    private readonly cache: RecordCache,
    private readonly held: HeldNames,
  ) {}

  /** Lets a list go, with words of warning for its caller. @throws AppError 409003; nothing may be done of it then */
  async pass({ list, door, plan, ...judged }: Passing): Promise<void> {
    const { actor, zone } = judged;
    const changes = await changesOf(list);
    const way = plan ? 'plan' : 'direct';
    const keys = new Set(GUARDS.filter((key) => OWN[door] !== key && modeOf(zone.rules, key, way) !== 'off'));
    const guards = await this.guards({ ...judged, changes }, keys);
    const idOf = (i: number) => (plan ? plan.ids[changes[i]?.position ?? -1] : undefined) ?? i + 1;
    const met = told(
      guards.map((one, i) => ({ position: idOf(i), guards: one })),
      zone.rules,
      way,
    );
    const caller = actor === 'system' ? null : actor;
    assertForced(met, plan?.force ?? caller?.intent?.force ?? []);
    const warnings = met.flatMap(({ key, mode }) => (mode === 'warn' ? [key] : []));
    if (caller && warnings.length) caller.warnings = new Set([...(caller.warnings ?? []), ...warnings]);
  }

  /**
   * The guards, of some, that each of some changes meets, if these are all that is done. What a token with rules may not
   * read is not there for it.
   */
  async guards(judged: Judged, keys: ReadonlySet<GuardKey>): Promise<GuardKey[][]> {
    const { domain, zone, changes } = judged;
    if (!changes.length || !keys.size) return changes.map(() => []);
    const rows = keys.has('dangling') ? await this.concerned(judged) : judged.rows;
    const known = {
      ...{ name: domain.name, records: zone.records, rows: readable(judged, rows) },
      ...{ held: await this.held.of(domain, keys), ttlFloor: floorOf(zone.rules) },
    };
    return guardsOf(known, changes, keys);
  }

  /** The records at the names of changes and of their targets, and what points at the names that lose all records. */
  private async concerned({ domain, changes, rows }: Judged): Promise<Judged['rows']> {
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

/** What a token with rules may read of some rows; for others all. */
const readable = ({ actor, domain }: Judged, rows: Judged['rows']): Judged['rows'] =>
  domain.access.rules ? rows.filter(mayRead(actor, domain)) : rows;

/** @throws AppError 409003 */
function assertForced(met: readonly Met[], force: readonly string[]): void {
  const guards = met.filter(({ key, mode }) => mode === 'force' && !force.includes(key));
  if (guards.length)
    throw errors.guarded('guards_not_named', { guards: guards.map(({ key }) => key).join(', ') }, { guards });
}
