import { fullName } from '../../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../../dns/record.js';
import type { Change, Outcome, RemoteZone } from '../../provider.js';
import { ProviderError } from '../http/errors.js';
import { derivedId, keyText, type RecordSet, type SetKey, type SetMember, type SetWrite } from './record-set.js';

/** The sets that a change touches: that of the record it makes, and that of the record as it was. */
export const keysOf = (change: Change): SetKey[] => [
  ...(change.op === 'delete' ? [] : [keyOf(change.after)]),
  ...(change.op === 'create' ? [] : [keyOf(change.before)]),
];

const keyOf = ({ host, type, line }: DnsRecord): SetKey => ({ host, type, line });

/** What a change does: a member leaves its set, a member comes to one, or neither, and what came of it is known. */
type Step =
  | { outcome: Outcome; leaves?: SetMember | undefined }
  | {
      source: RecordSet;
      target: RecordSet;
      leaves?: SetMember;
      before: DnsRecord | null;
      after: DnsRecord;
      wanted: SetMember;
    };

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
      JSON.stringify([members.length && ttl, members.map((m) => [m.remoteId, m.rdata, m.enabled])]);
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
    for (const one of judged) {
      if (!('target' in one)) continue;
      const { target, source, leaves, before, after, wanted } = one;
      if (!before) target.ttl = after.ttl;
      else if (leaves && before.ttl !== after.ttl) target.ttl = after.ttl;
      else if (leaves && !staying.has(target) && target.members.every((m) => leaving.has(m))) {
        target.ttl = this.wasAt(source)?.ttl ?? after.ttl;
      }
      const twin = target.members.find((m) => m.remoteId === wanted.remoteId && !leaving.has(m));
      if (twin) twin.enabled = wanted.enabled;
      else if (leaves && source === target) target.members.splice(target.members.indexOf(leaves), 0, wanted);
      else target.members.push(wanted);
    }
    for (const set of this.sets.values()) set.members = set.members.filter((m) => !leaving.has(m));
    return judged.map((one) => {
      if (!('target' in one)) return one.outcome;
      const { target, wanted, after } = one;
      const enabled = target.members.find((m) => m.remoteId === wanted.remoteId)?.enabled ?? wanted.enabled;
      const same = target.ttl === after.ttl && enabled === after.enabled;
      return { ok: true, remoteId: wanted.remoteId, ...(same ? {} : { held: { ...after, ttl: target.ttl, enabled } }) };
    });
  }

  /** What a change does to the sets as they were read. */
  private judge(change: Change): Step {
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
    const { before } = change;
    const source = this.set(before);
    const held = source.members.find((m) => m.remoteId === before.remoteId);
    if (change.op === 'delete') {
      if (change.guarded && (!held || this.differs(before, held))) return this.moved(before, held ?? null);
      return { outcome: { ok: true, remoteId: null }, leaves: held };
    }
    const { after } = change;
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
    return { target, source, leaves: held, before, after, wanted: source === target ? { ...held, ...wanted } : wanted };
  }

  /** A record as a member of its set: a value that was there already keeps the provider's own text of it. */
  private member(record: DnsRecord): SetMember {
    const remoteId = derivedId(record);
    const known = this.wasAt(record)?.members.find((m) => m.remoteId === remoteId);
    return { remoteId, rdata: known?.rdata ?? rdataOf(record), enabled: record.enabled };
  }

  /** Whether a record is not in the state in which it was seen. Its value is the same, since its id is made of it. */
  private differs(seen: DnsRecord, held: SetMember): boolean {
    return this.wasAt(seen)?.ttl !== seen.ttl || held.enabled !== seen.enabled;
  }

  private moved(before: RemoteRecord, held: SetMember | null): Step {
    const step = refused('changed', 'The record was changed at the provider since it was read');
    step.outcome.error.found = held && this.record(before, held);
    return step;
  }

  private record(before: RemoteRecord, { rdata, remoteId, enabled }: SetMember): RemoteRecord | null {
    const ttl = this.wasAt(before)?.ttl ?? before.ttl;
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

/** The members of a set that was read, as records; what stands for something else there is shown as it is. */
export const recordsOf = ({ host, type, line = 'default', ttl, members }: RecordSet, zone: string): RemoteRecord[] =>
  members.flatMap(({ remoteId, rdata, enabled }) => {
    const read = fromRdata(fullName(host, zone), type, rdata, ttl, zone);
    if (!read) return [];
    const record = { ...read, remoteId, enabled, line };
    return derivedId(record) === remoteId ? record : { ...record, value: rdata, priority: null, readOnly: true };
  });

const refused = (kind: ProviderError['kind'], message: string) =>
  ({ outcome: { ok: false, error: new ProviderError(kind, message, false), tried: true } }) as const;
