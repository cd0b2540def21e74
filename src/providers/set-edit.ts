import { fullName } from '../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../dns/record.js';
import { ProviderError } from './errors.js';
import type { Change, Outcome, RemoteZone } from './provider.js';
import { derivedId, keyText, type RecordSet, type SetKey, type SetMember, type SetWrite } from './record-set.js';

/** The sets that a change touches: that of the record it makes, and that of the record as it was. */
export const keysOf = (change: Change): SetKey[] => [
  ...(change.op === 'delete' ? [] : [keyOf(change.after)]),
  ...(change.op === 'create' ? [] : [keyOf(change.before)]),
];

const keyOf = ({ host, type, line }: DnsRecord): SetKey => ({ host, type, line });

const member = (record: DnsRecord): SetMember => ({
  remoteId: derivedId(record),
  rdata: rdataOf(record),
  enabled: record.enabled,
});

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

  /** Takes a change over into the sets. */
  take(change: Change): Outcome {
    if (change.op === 'create') {
      const set = this.set(change.after);
      set.ttl = change.after.ttl;
      return this.put(set, member(change.after), change.after);
    }
    const { before } = change;
    const source = this.set(before);
    const at = source.members.findIndex((m) => m.remoteId === before.remoteId);
    const held = source.members[at];
    if (change.op === 'delete') {
      if (held && change.guarded && this.differs(before, held)) return this.moved(before, held);
      source.members = source.members.filter((m) => m.remoteId !== before.remoteId);
      return { ok: true, remoteId: null };
    }
    const target = this.set(change.after);
    const id = derivedId(change.after);
    const there = target.members.find((m) => m.remoteId === id);
    if (!held) {
      // the answer to the same wish was lost: it was carried out
      if (there && !(change.guarded && this.differs(change.after, there))) return this.put(target, there, change.after);
      if (change.guarded) return this.moved(before, there ?? null);
      return refused('not_found', 'The record no longer exists at the provider; synchronise the domain');
    }
    if (change.guarded && this.differs(before, held)) {
      // the same for a wish that moves nothing but the state of the record
      if (held === there && !this.differs(change.after, held)) return { ok: true, remoteId: id };
      return this.moved(before, held);
    }
    return this.update(source, target, at, change);
  }

  private update(source: RecordSet, target: RecordSet, at: number, change: Change & { op: 'update' }): Outcome {
    const { before, after } = change;
    const held = source.members[at] as SetMember;
    const wanted = member(after);
    // what is the same in both was not wished for: the provider's own state of it stays
    if (before.enabled === after.enabled) wanted.enabled = held.enabled;
    if (before.ttl !== after.ttl) target.ttl = after.ttl;
    else if (!target.members.length) target.ttl = source.ttl;
    // somebody may have added the wanted value past us: it must not be there twice
    const twin = target.members.find((m) => m.remoteId === wanted.remoteId && m !== held);
    if (wanted.remoteId === held.remoteId && source === target) wanted.rdata = held.rdata;
    const stays = source === target && !twin;
    source.members.splice(at, 1, ...(stays ? [{ ...held, ...wanted }] : []));
    return this.put(target, wanted, after);
  }

  private put(set: RecordSet, wanted: SetMember, after: DnsRecord): Outcome {
    const twin = set.members.find((m) => m.remoteId === wanted.remoteId);
    // a value that stays keeps the provider's own text of it
    if (twin) twin.enabled = wanted.enabled;
    else set.members.push(wanted);
    const held = { ...after, ttl: set.ttl, enabled: wanted.enabled };
    const same = held.ttl === after.ttl && held.enabled === after.enabled;
    return { ok: true, remoteId: wanted.remoteId, ...(same ? {} : { held }) };
  }

  /** Whether a record is not in the state in which it was seen. Its value is the same, since its id is made of it. */
  private differs(seen: DnsRecord, held: SetMember): boolean {
    const set = this.was.get(keyText(seen));
    return set?.ttl !== seen.ttl || held.enabled !== seen.enabled;
  }

  private moved(before: RemoteRecord, held: SetMember | null): Outcome {
    const outcome = refused('changed', 'The record was changed at the provider since it was read');
    outcome.error.found = held && this.record(before, held);
    return outcome;
  }

  private record(before: RemoteRecord, { rdata, remoteId, enabled }: SetMember): RemoteRecord | null {
    const ttl = this.was.get(keyText(before))?.ttl ?? before.ttl;
    const read = fromRdata(fullName(before.host, this.zone.name), before.type, rdata, ttl, this.zone.name);
    return read && { ...read, remoteId, enabled, line: before.line };
  }

  private set(record: DnsRecord): RecordSet {
    const set = this.sets.get(keyText(record));
    if (!set) throw new Error(`The adapter did not read the set ${keyText(record)}`);
    return set;
  }
}

const refused = (kind: ProviderError['kind'], message: string) =>
  ({ ok: false, error: new ProviderError(kind, message, false), tried: true }) as const;
