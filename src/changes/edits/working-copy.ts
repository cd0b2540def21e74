import type { StoredRecord } from '../../cache/record-cache.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { assertMay, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { assertUnchanged } from '../../platform/common/read-only.js';
import { derivedId, keyText } from '../../providers/kit/rrsets/record-set.js';
import type { Capabilities, Change, ProviderDefinition } from '../../providers/provider.js';
import type { Action, RecordState } from '../../tokens/rules/token-rules.js';
import type { Edit, NewRecord, Upsert } from './edit.js';
import { type Entry, Names } from './names.js';
import type { RecordPatch } from './record.dto.js';
import { assertEditable, assertFits, changesOf, mergedRecord, plainRecord } from './record-rules.js';
import { recordTag, recordView } from './record-view.js';

export type { Entry } from './names.js';

/** One edit, judged. With an error nothing else is said. */
export interface Planned {
  /** its position in the list that the client sent */
  position: number;
  edit: Edit;
  error: AppError | null;
  entry: Entry | null;
  /** the record before and after this very edit; null: there is none */
  before: StoredRecord | null;
  after: StoredRecord | null;
}

/** What a list makes of one record, all its edits together. */
export interface Net {
  entry: Entry;
  before: StoredRecord | null;
  after: StoredRecord | null;
  /** null: nothing to do at the provider */
  change: Change | null;
  /** see `RecordChange.expected` */
  expected: string | null;
}

const UNCLEAR =
  'The provider gave no clear answer about the last change of this record, and is being asked; try again in a minute';

/** Whether the provider holds a record in this state, or it exists only here. */
const heldThere = (record: Pick<DnsRecord, 'enabled'>, { toggle }: Capabilities): boolean =>
  record.enabled || toggle === 'record';

/**
 * The records of the names that a list touches, read under their locks. Edits are folded over it in their order: each
 * is judged against what those before it have made. An edit that does not fit is an error of that edit and changes
 * nothing. Nothing here waits: the caller takes turns.
 */
export class WorkingCopy {
  private readonly byId = new Map<number, Entry>();
  private readonly names = new Names();
  /** sets whose TTL an edit has moved: type, line and host by a text of them */
  private readonly moved = new Map<string, Pick<DnsRecord, 'host' | 'type' | 'line'>>();
  private readonly touched = new Set<Entry>();
  private created = 0;

  /**
   * @param mayRead whether the caller may see a record that is in the way
   * @param named the caller has named the records: those that rules hide do not exist for it
   */
  constructor(
    private readonly definition: ProviderDefinition,
    private readonly domain: OpenDomain,
    rows: readonly StoredRecord[],
    private readonly mayRead: (row: StoredRecord) => boolean,
    private readonly named = true,
  ) {
    for (const row of rows) this.add({ original: row, now: row, positions: [], guarded: false, movesTtl: false });
  }

  /** Judges one edit and, when it fits, carries it out on the copy. */
  plan(edit: Edit, position: number): Planned {
    try {
      const planned = this.judge(edit);
      planned.entry.positions.push(position);
      this.touched.add(planned.entry);
      return { position, edit, error: null, ...planned };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { position, edit, error, entry: null, before: null, after: null };
    }
  }

  /** What is to be done, one entry a record that an edit touched; those that come out as they were have no change. */
  *nets(): Generator<Net> {
    for (const set of this.moved.values()) this.carryTtl(set);
    for (const entry of this.touched) yield this.net(entry);
  }

  private judge(edit: Edit): { entry: Entry; before: StoredRecord | null; after: StoredRecord | null } {
    if ('misfit' in edit) throw edit.misfit;
    if (edit.op === 'create') return this.create(edit);
    if (edit.op === 'upsert') {
      // its outcome shows whether there is such a record
      this.may('read', edit.record);
      const { entry, patch } = this.keyed(edit) ?? {};
      return entry && patch ? this.change(entry, patch) : this.create(edit);
    }
    const entry = this.byId.get(edit.id);
    if (!entry?.now || (this.named && !this.visible(entry.original ?? entry.now))) {
      if (edit.op === 'delete' && edit.ifMatch !== undefined) throw errors.precondition('The record is gone');
      throw errors.notFound('Record');
    }
    const before = entry.now;
    this.may(edit.op === 'delete' ? 'delete' : 'update', before);
    if (edit.ifMatch !== undefined) this.match(entry, before, edit.ifMatch);
    if (edit.op === 'delete') {
      assertEditable(before);
      this.set(entry, null);
      return { entry, before, after: null };
    }
    return this.change(entry, edit.op === 'status' ? { enabled: edit.enabled } : edit.patch);
  }

  private create({ record, ttlGiven, remark }: NewRecord): { entry: Entry; before: null; after: StoredRecord } {
    const after = { ...record };
    if (!ttlGiven) this.join(after);
    this.may('create', after);
    this.mayMoveTtl(after);
    assertFits(after, this.names.inTheWay(after), this.definition.capabilities, this.seen);
    const more = { domain_id: this.domain.id, remote_id: null, read_only: false, pending: false, remark };
    const now = { ...after, ...more, id: -++this.created, updated_at: '', created_at: null };
    const entry: Entry = { original: null, now, positions: [], guarded: false, movesTtl: false };
    this.add(entry);
    this.alignTtl(entry, now);
    return { entry, before: null, after: now };
  }

  /** What an upsert means: the record with its host, type and value; of several with other priorities the same one. */
  private keyed({ record, patch }: Upsert): { entry: Entry; patch: RecordPatch } | null {
    const alike = [...this.names.alike(record)];
    const entry = alike.find(({ now }) => now?.priority === record.priority) ?? alike[0];
    return entry ? { entry, patch } : null;
  }

  private change(entry: Entry, patch: RecordPatch): { entry: Entry; before: StoredRecord; after: StoredRecord } {
    const { capabilities } = this.definition;
    const before = entry.now as StoredRecord;
    this.may('update', before);
    if (changesOf(patch, before).size) assertEditable(before);
    assertUnchanged(patch, recordView(before, this.domain));
    const after = mergedRecord(this.definition, this.domain.name, before, patch);
    const remark = patch.remark ?? before.remark;
    if (equal(after, before)) {
      // it may be another one by now: nothing to do cannot be said
      if (before.pending) throw errors.conflict(UNCLEAR, this.seen(before) ? { id: before.id } : undefined);
      const noted = remark === before.remark ? before : { ...before, remark };
      entry.now = noted;
      return { entry, before, after: noted };
    }
    const moves = after.host !== before.host || after.type !== before.type || after.line !== before.line;
    const enters = heldThere(after, capabilities) && !heldThere(before, capabilities);
    if ((moves || enters) && (patch.ttl ?? null) === null) this.join(after, entry);
    this.may('update', after);
    this.mayMoveTtl(after, entry);
    // a record that only goes is in nobody's way
    if (after.enabled || !sameRecord(after, before))
      assertFits(after, this.names.inTheWay(after, entry), capabilities, this.seen);
    const now = { ...before, ...after, remark };
    this.set(entry, now);
    this.alignTtl(entry, now);
    return { entry, before, after: now };
  }

  private match(entry: Entry, before: StoredRecord, tag: string): void {
    const current = recordView(before, this.domain);
    if (tag !== '*' && !tag.split(',').some((one) => one.trim() === recordTag(current))) {
      const data = this.seen(before) ? { record: current } : undefined;
      throw errors.precondition('The record is not what If-Match names; read it again', data);
    }
    entry.guarded = true;
  }

  private readonly seen = (row: StoredRecord): boolean => row.id > 0 && this.mayRead(row);

  private visible(row: StoredRecord): boolean {
    return judgeRecord(this.domain.access, this.domain.id, 'read', row).allowed;
  }

  private may(action: Action, state: RecordState): void {
    assertMay(this.domain.access, this.domain.id, action, state);
  }

  /** The others of the set at the provider: what is kept here has a TTL of its own. */
  private *siblings(record: DnsRecord, but?: Entry): Generator<Entry & { now: StoredRecord }> {
    const { capabilities } = this.definition;
    if (capabilities.ttlOf !== 'set' || !heldThere(record, capabilities)) return;
    for (const entry of this.names.set(record))
      if (entry !== but && entry.now && heldThere(entry.now, capabilities))
        yield entry as Entry & { now: StoredRecord };
  }

  /** A TTL that was not given must not change that of the set which the record joins. */
  private join(record: DnsRecord, but?: Entry): void {
    for (const { now } of this.siblings(record, but)) {
      record.ttl = now.ttl;
      return;
    }
  }

  /** Whose TTL moves with that of the set must be allowed to be changed, too. @throws AppError 403001 */
  private mayMoveTtl(record: DnsRecord, but?: Entry): void {
    for (const { now } of this.siblings(record, but)) {
      if (now.ttl === record.ttl) continue;
      this.may('update', now);
      this.may('update', { ...now, ttl: record.ttl });
    }
  }

  private alignTtl(entry: Entry, now: StoredRecord): void {
    for (const other of this.siblings(now, entry)) {
      if (other.now.ttl === now.ttl) continue;
      other.now = { ...other.now, ttl: now.ttl };
      const { host, type, line } = now;
      this.moved.set(keyText({ host, type, line }), { host, type, line });
    }
  }

  /** Somebody of a set has to bring its TTL to the provider, and to the cache of the others. */
  private carryTtl(set: Pick<DnsRecord, 'host' | 'type' | 'line'>): void {
    const { capabilities } = this.definition;
    const members = [...this.names.set(set)].filter(({ now }) => now && heldThere(now, capabilities));
    const carrier = members.find((entry) => this.touched.has(entry)) ?? members[0];
    if (!carrier) return;
    carrier.movesTtl = true;
    this.touched.add(carrier);
  }

  private add(entry: Entry): void {
    const row = entry.now as StoredRecord;
    if (row.id > 0) this.byId.set(row.id, entry);
    this.names.add(entry);
  }

  private set(entry: Entry, now: StoredRecord | null): void {
    this.names.remove(entry);
    entry.now = now;
    if (now) this.names.add(entry);
  }

  private net(entry: Entry): Net {
    const { capabilities } = this.definition;
    const { original: before, now: after, guarded } = entry;
    // who moved it may have left the set since, or fail
    if (capabilities.ttlOf === 'set' && before && after && before.ttl !== after.ttl) entry.movesTtl = true;
    const change = changeOf(before, after, capabilities, guarded);
    const kept = after !== null && !heldThere(after, capabilities);
    const derived = change && after && capabilities.ids === 'derived' ? derivedId(after) : null;
    return { entry, before, after, change, expected: kept ? '' : derived };
  }
}

/** What brings a provider from one state of a record to another; null where it is not concerned. */
function changeOf(
  before: StoredRecord | null,
  after: StoredRecord | null,
  capabilities: Capabilities,
  guarded: boolean,
): Change | null {
  const held = after !== null && heldThere(after, capabilities);
  if (before === null || before.remote_id === null)
    return held ? { op: 'create', after: sent(after, capabilities) } : null;
  const old: RemoteRecord = { ...sent(before, capabilities), remoteId: before.remote_id, readOnly: before.read_only };
  const more = guarded ? { guarded } : {};
  if (!held) return { op: 'delete', before: old, ...more };
  const next = sent(after, capabilities);
  return equal(next, old) ? null : { op: 'update', before: old, after: next, ...more };
}

const sent = (row: StoredRecord, { remark }: Capabilities): DnsRecord => ({
  ...plainRecord(row),
  ...(remark && { remark: row.remark }),
});

const equal = (a: DnsRecord, b: DnsRecord): boolean =>
  (Object.keys(a) as (keyof DnsRecord)[]).every((key) => a[key] === b[key]);

/** Whether a record comes out of a list as it went in. */
export const isIdle = ({ before, after, change }: Net): boolean =>
  !change && before !== null && after !== null && before.remark === after.remark && equal(plainRecord(before), after);
