import type { Maker } from '../../access/maker.js';
import { endAlike, endOf, NO_END, type RecordEnd } from '../../cache/reconcile.js';
import type { StoredRecord } from '../../cache/record-cache.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { assertMay, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors, InvalidRecord } from '../../platform/common/errors.js';
import { assertUnchanged } from '../../platform/common/read-only.js';
import { derivedId, keyText } from '../../providers/kit/rrsets/record-set.js';
import type { Capabilities, Change, ProviderDefinition } from '../../providers/provider.js';
import type { Action, RecordState } from '../../tokens/rules/token-rules.js';
import type { Edit, EditOfRow, NewRecord, Upsert } from './edit.js';
import { type Entry, isLive, type Live, Names } from './names.js';
import { mistakeOfEnd, type RecordPatch, type RecordView, recordTag, recordView } from './record.dto.js';
import { assertEditable, assertFits, changesOf, givesWay, mergedRecord, plainRecord } from './record-rules.js';

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

/** What an edit that fits makes of its record. */
type Judged = Pick<Planned, 'before' | 'after'> & { entry: Entry };

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
  /** records that are in nobody's way, since an edit that follows changes or deletes them */
  private readonly awaited = new Set<Entry>();
  private created = 0;

  /**
   * @param mayRead whether the caller may see a record that is in the way
   * @param byCaller the caller has named the records: those that rules hide do not exist for it
   * @param maker by whose right records end that are given an end
   */
  constructor(
    private readonly definition: ProviderDefinition,
    private readonly domain: OpenDomain,
    rows: readonly StoredRecord[],
    private readonly mayRead: (row: StoredRecord) => boolean,
    private readonly byCaller = true,
    private readonly maker: Maker = { maker_id: null, maker_token_id: null },
  ) {
    for (const row of rows) this.add({ original: row, now: row, positions: [], guarded: false, movesTtl: false });
  }

  /**
   * Of edits that are judged together: what any of them changes is in no other one's way, so that two records can
   * swap their values. Where one of them does not fit, the copy is of no use.
   */
  await(edits: readonly Edit[]): void {
    for (const edit of edits) {
      const entry = 'id' in edit ? this.byId.get(edit.id) : undefined;
      if (entry) this.awaited.add(entry);
    }
  }

  /** Judges one edit and, when it fits, carries it out on the copy. */
  plan(edit: Edit, position: number): Planned {
    try {
      const planned = this.judge(edit);
      const { positions } = planned.entry;
      // the first one that is pushed makes room for sixteen more
      if (positions.length) positions.push(position);
      else planned.entry.positions = [position];
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

  /** Records that no edit touched, whose TTLs move with those of their sets. */
  *movedAlong(): Generator<{ before: StoredRecord; after: StoredRecord }> {
    for (const set of this.moved.values())
      for (const entry of this.names.set(set)) {
        const { original: before, now: after } = entry;
        if (before && after && before.ttl !== after.ttl && !this.touched.has(entry)) yield { before, after };
      }
  }

  private judge(edit: Edit): Judged {
    if ('misfit' in edit) throw edit.misfit;
    if (edit.op === 'create') return this.create(edit);
    if (edit.op === 'upsert') return this.upsert(edit);
    const entry = this.named(edit);
    const before = entry.now;
    this.may(edit.op === 'delete' ? 'delete' : 'update', before);
    const shown = recordView(before, this.domain);
    if (edit.ifMatch !== undefined) this.match(entry, shown, edit.ifMatch);
    if ('was' in edit && edit.was) this.assertAsPlanned(entry, shown, edit.was, edit.op === 'update' ? edit.patch : {});
    if (edit.op !== 'delete')
      return this.change(entry, edit.op === 'status' ? { enabled: edit.enabled } : edit.patch, shown);
    assertEditable(before);
    this.awaited.delete(entry);
    this.set(entry, null);
    return { entry, before, after: null };
  }

  /** The record that an edit names. @throws AppError 404001, 412001 */
  private named(edit: EditOfRow): Live {
    const entry = this.byId.get(edit.id);
    if (isLive(entry) && (!this.byCaller || this.visible(entry.original ?? entry.now))) return entry;
    if (edit.op === 'delete' && edit.ifMatch !== undefined) throw errors.precondition('record_gone');
    throw errors.notFound('record');
  }

  private create({ record, ttlGiven, remark, expires_at, revives }: NewRecord): Judged {
    const after = { ...record };
    if (!ttlGiven) this.join(after);
    this.may('create', after);
    this.mayMoveTtl(after);
    this.assertFits(after);
    const end = { ...this.end(NO_END, expires_at, after), remark };
    const id = -++this.created;
    const more = { remote_id: null, read_only: false, pending: false, updated_at: '', created_at: null };
    // what is named after a spread would treble the size of it
    const now = { id, domain_id: this.domain.id, ...more, ...after, ...end };
    const entry: Entry = { original: null, now, positions: [], guarded: false, movesTtl: false };
    if (revives !== undefined) entry.revives = revives;
    this.add(entry);
    this.alignTtl(entry, now);
    return { entry, before: null, after: now };
  }

  /** Changes the record with its host, type and value, of several with other priorities the same one; or makes it. */
  private upsert(edit: Upsert): Judged {
    // its outcome shows whether there is such a record
    this.may('read', edit.record);
    const alike = [...this.names.alike(edit.record)].filter((one) => isLive(one) && !this.awaited.has(one)) as Live[];
    const entry = alike.find(({ now }) => now.priority === edit.record.priority) ?? alike[0];
    if (!entry) return this.create(edit);
    this.may('update', entry.now);
    return this.change(entry, edit.patch, recordView(entry.now, this.domain));
  }

  /** @param shown the record as the caller may have read it */
  private change(entry: Live, patch: RecordPatch, shown: RecordView): Judged {
    const before = entry.now;
    const changes = changesOf(patch, shown);
    const { expires_at = before.expires_at ?? null } = patch;
    if (changes.size || !endAlike(before, { expires_at })) assertEditable(before);
    assertUnchanged(patch, shown);
    const after = mergedRecord(this.definition, this.domain.name, before, patch, changes);
    const remark = patch.remark ?? before.remark;
    const end = this.end(before, expires_at, after);
    // what was judged before it may have taken its place
    if (this.awaited.delete(entry)) this.assertFits(after, entry, this.touched);
    if (equal(after, before)) return this.note(entry, { ...end, remark });
    if (this.entersSet(before, after) && (patch.ttl ?? null) === null) this.join(after, entry);
    this.may('update', after);
    this.mayMoveTtl(after, entry);
    // a record that only goes is in nobody's way
    if (after.enabled || !sameRecord(after, before)) this.assertFits(after, entry);
    const now = { ...before, ...after, ...end, remark };
    this.set(entry, now);
    this.alignTtl(entry, now);
    return { entry, before, after: now };
  }

  /** @param among the others that count @throws AppError 409001, 400001 where another record is in the way */
  private assertFits(record: DnsRecord, but?: Entry, among?: ReadonlySet<Entry>): void {
    const counts = (entry: Entry) => !this.awaited.has(entry) && (among?.has(entry) ?? true);
    const others = this.names.inTheWay(record, but).filter(counts);
    assertFits(
      record,
      others.map(({ now }) => now),
      this.definition.capabilities,
      this.seen,
    );
  }

  /** The end that a record is given; who sends it as it is stays out of it. @throws InvalidRecord; AppError 403001 */
  private end(before: Partial<RecordEnd>, given: string | null | undefined, record: DnsRecord): RecordEnd {
    if (given === undefined || endAlike(before, { expires_at: given })) return endOf(before);
    if (given === null) return NO_END;
    const wrong = mistakeOfEnd(given);
    if (wrong.length) throw new InvalidRecord(wrong);
    this.may('delete', record);
    const { maker_id: end_maker_id, maker_token_id: end_maker_token_id } = this.maker;
    return { ...NO_END, expires_at: given, end_maker_id, end_maker_token_id };
  }

  /** Changes at most what only we know of a record. @throws AppError 409001 */
  private note(entry: Live, own: RecordEnd & Pick<StoredRecord, 'remark'>): Judged {
    const before = entry.now;
    // it may be another one by now: nothing to do cannot be said
    if (before.pending) throw errors.conflict('record_unclear', {}, this.seen(before) ? { id: before.id } : undefined);
    if (own.remark !== before.remark || !endAlike(own, before)) entry.now = { ...before, ...own };
    return { entry, before, after: entry.now };
  }

  /** Whether a record comes to a set in which the provider did not hold it before. */
  private entersSet(before: DnsRecord, after: DnsRecord): boolean {
    const { capabilities } = this.definition;
    const moves = after.host !== before.host || after.type !== before.type || after.line !== before.line;
    return moves || (heldThere(after, capabilities) && !heldThere(before, capabilities));
  }

  private match(entry: Live, shown: RecordView, tag: string): void {
    if (tag !== '*' && !tag.split(',').some((one) => one.trim() === recordTag(shown))) {
      const data = this.seen(entry.now) ? { record: shown } : undefined;
      throw errors.precondition('record_if_match', {}, data);
    }
    entry.guarded = true;
  }

  /** @param wanted of what it is already, it does not matter what it was @throws AppError 412001 */
  private assertAsPlanned({ now }: Live, shown: RecordView, was: RecordPatch, wanted: RecordPatch): void {
    const is = (key: keyof RecordPatch, { [key]: value }: RecordPatch) =>
      (shown[key as 'value'] ?? null) === (value ?? null);
    if ((Object.keys(was) as (keyof RecordPatch)[]).every((key) => is(key, was) || (key in wanted && is(key, wanted))))
      return;
    throw errors.precondition('record_not_as_planned', {}, this.seen(now) ? { record: shown } : undefined);
  }

  private readonly seen = (row: StoredRecord): boolean => row.id > 0 && this.mayRead(row);

  private visible(row: StoredRecord): boolean {
    return judgeRecord(this.domain.access, this.domain.id, 'read', row).allowed;
  }

  private may(action: Action, state: RecordState): void {
    assertMay(this.domain.access, this.domain.id, action, state);
  }

  /** The others of the set at the provider: what is kept here has a TTL of its own. */
  private *siblings(record: DnsRecord, but?: Entry): Generator<Live> {
    const { capabilities } = this.definition;
    if (capabilities.ttlOf !== 'set' || !heldThere(record, capabilities)) return;
    for (const entry of this.names.set(record))
      if (entry !== but && isLive(entry) && heldThere(entry.now, capabilities)) yield entry;
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
    if (!givesWay(row, this.definition.capabilities)) this.names.add(entry);
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
  ...(row.extra && { extra: row.extra }),
});

const equal = (a: DnsRecord, b: DnsRecord): boolean =>
  (Object.keys(a) as (keyof DnsRecord)[]).every((key) => a[key] === b[key]);

/** Whether a record comes out of a list as it went in. */
export const isIdle = ({ before, after, change }: Net): boolean =>
  !change &&
  before !== null &&
  after !== null &&
  before.remark === after.remark &&
  endAlike(before, after) &&
  equal(plainRecord(before), after);
