import { fullName } from '../../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../../dns/record.js';
import type { Change, Outcome, RemoteZone } from '../../provider.js';
import { ProviderError } from '../http/errors.js';
import { touched } from '../records/chunks.js';
import {
  derivedId,
  extrasOf,
  extraText,
  keyText,
  type RecordSet,
  type SetKey,
  type SetMember,
  type SetWrite,
} from './record-set.js';

/** The sets that a change touches: that of the record it makes, and that of the record as it was. */
export const keysOf = (change: Change): SetKey[] => touched(change).map(keyOf);

const keyOf = ({ host, type, line }: DnsRecord): SetKey => ({ host, type, line });

/** What a change does: a member leaves its set, a member comes to one, or neither, and what came of it is known. */
type Step = { outcome: Outcome; leaves?: SetMember | undefined } | Coming;

interface Coming {
  source: RecordSet;
  target: RecordSet;
  leaves?: SetMember;
  before: DnsRecord | null;
  after: DnsRecord;
  wanted: SetMember;
}

/** Sets as they were read, and as they shall be, by the text of their key. */
export class SetEdit {
  private readonly was: Map<string, RecordSet>;
  private readonly sets: Map<string, RecordSet>;

  constructor(
    private readonly zone: RemoteZone,
    read: readonly RecordSet[],
  ) {
    this.was = new Map(read.map((set) => [keyText(set), set]));
    this.sets = new Map(read.map((set) => [keyText(set), { ...set, members: set.members.map((one) => ({ ...one })) }]));
  }

  /** Sets that are no longer what was read, with what was read. Of one host those that go come first. */
  changed(): SetWrite[] {
    const state = ({ ttl, members }: RecordSet) =>
      JSON.stringify([members.length && ttl, members.map((m) => [m.remoteId, m.rdata, m.enabled, m.ttl])]);
    const list = [...this.sets.values()]
      .map((set) => ({ set, was: this.was.get(keyText(set)) as RecordSet }))
      .filter(({ set, was }) => state(set) !== state(was));
    const emptied = new Set(list.filter(({ set }) => !set.members.length).map(({ set }) => set.host));
    // what grows at a host of its own comes before all: a record that moves there is nowhere in between
    const rank = ({ set }: { set: RecordSet }) => (set.members.length ? (emptied.has(set.host) ? 2 : 0) : 1);
    return list.toSorted((a, b) => rank(a) - rank(b));
  }

  /**
   * Takes a list of changes over into the sets, no two of one record: all that goes is taken out first, then what comes
   * is put in, in order. So a value may pass from one record to another, in whatever order the changes stand.
   * @returns one outcome a change; one that fails leaves its record as it is
   */
  take(changes: readonly Change[]): Outcome[] {
    const judged = changes.map((change) => this.judge(change));
    const leaving = new Set(judged.flatMap((one) => ('leaves' in one && one.leaves ? [one.leaves] : [])));
    // a set from which a record goes to be put in again stays: its TTL is its own
    const staying = new Set(
      judged.flatMap((one) => ('target' in one && one.leaves && one.source === one.target ? [one.target] : [])),
    );
    const named = new Set<RecordSet>();
    for (const one of judged) {
      if (!('target' in one)) continue;
      const { target, source, leaves, after } = one;
      if (namesTtl(one)) named.add(target);
      target.ttl = this.ttlWith(one, () => !staying.has(target) && target.members.every((m) => leaving.has(m)));
      // a set that is made anew has what its record had
      const extra = leaves ? source.extra : extrasOf(after.extra).set;
      if (extra && !this.wasAt(target)?.members.length) Object.assign(target, { raw: extra, extra });
      put(one, leaving);
    }
    for (const set of this.sets.values()) set.members = set.members.filter((m) => !leaving.has(m));
    for (const { members } of named) for (const member of members) delete member.ttl;
    return judged.map((one) => ('target' in one ? outcomeOf(one) : one.outcome));
  }

  /** The TTL of a set to which a member comes. @param isEmptied whether all that is in the set leaves it */
  private ttlWith({ target, source, leaves, before, after }: Coming, isEmptied: () => boolean): number {
    if (!before) return after.ttl;
    if (!leaves) return target.ttl;
    if (before.ttl !== after.ttl) return after.ttl;
    return isEmptied() ? (leaves.ttl ?? this.wasAt(source)?.ttl ?? after.ttl) : target.ttl;
  }

  /** What a change does to the sets as they were read. */
  private judge(change: Change): Step {
    const fixed = keysOf(change).find((key) => this.wasAt(key)?.readOnly !== undefined);
    if (fixed) {
      const why = this.wasAt(fixed)?.readOnly?.replace(/^It /, '');
      return refused('rejected', `${fixed.type} ${fixed.host} ${why}`);
    }
    // no vendor of whole sets has weights so far: one that is given is refused rather than dropped
    const weight = change.op === 'update' ? change.before.weight : null;
    if (change.op !== 'delete' && change.after.weight !== weight) {
      return refused('rejected', 'The records of this provider have no weights');
    }
    if (change.op === 'create') {
      const { after } = change;
      const target = this.set(after);
      return { target, source: target, before: null, after, wanted: this.member(after) };
    }
    const source = this.set(change.before);
    const held = source.members.find((m) => m.remoteId === change.before.remoteId);
    return change.op === 'delete' ? this.judgeDeletion(change, held) : this.judgeUpdate(change, source, held);
  }

  private judgeDeletion({ before, guarded }: Change & { op: 'delete' }, held: SetMember | undefined): Step {
    if (guarded && (!held || this.differs(before, held))) return this.moved(before, held ?? null);
    return { outcome: { ok: true, remoteId: null }, leaves: held };
  }

  private judgeUpdate(change: Change & { op: 'update' }, source: RecordSet, held: SetMember | undefined): Step {
    const { before, after } = change;
    const target = this.set(after);
    const there = target.members.find((m) => m.remoteId === derivedId(after));
    if (!held) {
      // the answer to the same wish was lost: it was carried out
      if (there && !(change.guarded && this.differs(after, there))) {
        return { target, source, before, after, wanted: { ...there } };
      }
      if (change.guarded) return this.moved(before, there ?? null);
      return refused('not_found', 'The record no longer exists at the provider; synchronise the domain');
    }
    if (change.guarded && this.differs(before, held)) {
      // the same for a wish that moves nothing but the state of the record
      if (held !== there || this.differs(after, held)) return this.moved(before, held);
      return { outcome: { ok: true, remoteId: held.remoteId } };
    }
    const wanted = this.member(after);
    // what is the same in both was not wished for: the provider's own state of it stays
    if (before.enabled === after.enabled) wanted.enabled = held.enabled;
    return {
      target,
      source,
      leaves: held,
      before,
      after,
      wanted: { ...wanted, ...withIt(held, change, source === target) },
    };
  }

  /** A record as a member of its set: a value that was there already keeps the provider's own text of it. */
  private member(record: DnsRecord): SetMember {
    const remoteId = derivedId(record);
    const known = this.wasAt(record)?.members.find((m) => m.remoteId === remoteId);
    const kept = known ? {} : keptOf(extrasOf(record.extra).value);
    return { remoteId, rdata: known?.rdata ?? rdataOf(record), enabled: record.enabled, ...kept };
  }

  /** Whether a record is not in the state in which it was seen. Its value is the same, since its id is made of it. */
  private differs(seen: DnsRecord, held: SetMember): boolean {
    return (held.ttl ?? this.wasAt(seen)?.ttl) !== seen.ttl || held.enabled !== seen.enabled;
  }

  private moved(before: RemoteRecord, held: SetMember | null): Step {
    const step = refused('changed', 'The record was changed at the provider since it was read');
    step.outcome.error.found = held && this.record(before, held);
    return step;
  }

  private record(before: RemoteRecord, { rdata, remoteId, enabled, ttl: own }: SetMember): RemoteRecord | null {
    const ttl = own ?? this.wasAt(before)?.ttl ?? before.ttl;
    const read = fromRdata(fullName(before.host, this.zone.name), before.type, rdata, ttl, this.zone.name);
    return read && { ...read, remoteId, enabled, line: before.line };
  }

  private wasAt(key: SetKey): RecordSet | undefined {
    return this.was.get(keyText(key));
  }

  private set(record: DnsRecord): RecordSet {
    const set = this.sets.get(keyText(record));
    if (!set) throw new Error(`The adapter did not read the set ${keyText(record)}`);
    return set;
  }
}

/** Puts what comes into its set: in the place of what leaves it, or at its end. */
function put({ target, source, leaves, wanted }: Coming, leaving: ReadonlySet<SetMember>): void {
  const twin = target.members.find((m) => m.remoteId === wanted.remoteId && !leaving.has(m));
  if (twin) twin.enabled = wanted.enabled;
  else if (leaves && source === target) target.members.splice(target.members.indexOf(leaves), 0, wanted);
  else target.members.push(wanted);
}

/** What came of a change whose set is as it shall be. */
function outcomeOf({ target, wanted, after }: Coming): Outcome {
  const { remoteId } = wanted;
  const { enabled, ttl = target.ttl } = target.members.find((m) => m.remoteId === remoteId) ?? wanted;
  const same = ttl === after.ttl && enabled === after.enabled;
  return { ok: true, remoteId, ...(same ? {} : { held: { ...after, ttl, enabled } }) };
}

/** Whether a change says of what TTL a whole set shall be: values lose those of their own. */
const namesTtl = ({ target, leaves, before, after }: Coming): boolean =>
  before ? leaves !== undefined && before.ttl !== after.ttl : after.ttl !== target.ttl;

/** What goes with a value: in its set all of it, at another name what can be kept, and nothing to another type. */
function withIt(held: SetMember, { before, after }: Change & { op: 'update' }, isSame: boolean): Partial<SetMember> {
  if (before.type !== after.type) return {};
  const { remoteId: _id, rdata: _rdata, enabled: _enabled, ...more } = held;
  return isSame ? more : keptOf(held.extra);
}

/** What was kept with a record while it was away, or goes with it: the fields of its value at the provider. */
const keptOf = (extra: object | undefined): Pick<SetMember, 'raw' | 'extra'> => (extra ? { raw: extra, extra } : {});

/** The members of a set that was read, as records; what stands for something else there is shown as it is. */
export const recordsOf = (
  { host, type, line = 'default', ttl, members, readOnly, extra }: RecordSet,
  zone: string,
): RemoteRecord[] =>
  members.flatMap(({ remoteId, rdata, enabled, extra: own, ttl: ownTtl = ttl }) => {
    const read = fromRdata(fullName(host, zone), type, rdata, ownTtl, zone);
    if (!read) return [];
    const fixed = readOnly !== undefined && { readOnly: true, readOnlyReason: readOnly };
    const more = extraText(own, extra);
    const record = { ...read, remoteId, enabled, line, ...fixed, ...(more && { extra: more }) };
    return derivedId(record) === remoteId ? record : { ...record, value: rdata, priority: null, readOnly: true };
  });

const refused = (kind: ProviderError['kind'], message: string) =>
  ({ outcome: { ok: false, error: new ProviderError(kind, message, false), tried: true } }) as const;
