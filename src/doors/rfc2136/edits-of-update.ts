import type { StoredRecord } from '../../cache/record-cache.js';
import { creation, type Edit, type NewRecord, type Place } from '../../changes/edits/edit.js';
import { fullName } from '../../dns/names.js';
import { MANAGED_TYPES, shownValue } from '../../dns/record.js';
import { dataKey } from '../../dns/record-data.js';
import { RCODE } from '../../dns/wire.js';
import { assertMay, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { due, turn } from '../../platform/common/turns.js';
import { served } from '../../records/served.js';
import { DnsFault, refused } from './dns-request.js';
import type { Content, Named, Prerequisite, Step, Update } from './update.js';

/** Stands for all types where rules of tokens are asked about a name as a whole: no rule for single types allows it. */
const ANY = 'ANY';
const LINE = 'default';

/** A record of the zone while an update is worked out; of one that is made `row` is null. */
interface Item {
  record: Content;
  /** the same for the same data */
  key: string;
  row: StoredRecord | null;
  /** seconds, where the update names them */
  ttl: number | null;
}

/** What is in DNS. */
const isShown = (row: StoredRecord): boolean => row.enabled && row.line === LINE;

/**
 * What an update makes of the records at its names, which are locked: its prerequisites are judged by them, then its
 * steps are carried out one after the other (RFC 2136 sections 3.2 and 3.4).
 * @param isSeen whether the caller may read a record
 * @throws DnsFault when a prerequisite does not hold; AppError 400001, 403001
 */
export async function editsOf(
  place: Place,
  domain: OpenDomain,
  update: Update,
  rows: readonly StoredRecord[],
  isSeen: (row: StoredRecord) => boolean,
): Promise<Edit[]> {
  // a record that may not be read counts as absent
  const shown = served(domain.provider, rows).filter((row) => isShown(row) && isSeen(row));
  const byHost = new Map<string, StoredRecord[]>();
  for (const row of shown) {
    const here = byHost.get(row.host);
    if (here) here.push(row);
    else byHost.set(row.host, [row]);
  }
  for (const one of update.prerequisites) {
    if (due()) await turn();
    assertHolds(domain, one, byHost.get(one.host) ?? []);
  }
  const copy = new Copy(domain, shown);
  for (const step of update.steps) {
    if (due()) await turn();
    copy.carryOut(step);
  }
  return copy.edits(place, rows.filter(isSeen));
}

/**
 * Whoever may not read what a prerequisite is about does not learn whether it holds.
 * @param here what its name has
 * @throws DnsFault; AppError 403001
 */
function assertHolds({ access, id, name }: OpenDomain, one: Prerequisite, here: readonly StoredRecord[]): void {
  const { host, type, isThere, values } = one;
  const members = here.filter((row) => type === null || row.type === type);
  for (const value of values?.map(({ record }) => record.value) ?? [null])
    assertMay(access, id, 'read', { host, type: type ?? ANY, value, ttl: 0 });
  // every zone has one
  const isSoa = host === '@' && (type === null || type === 'SOA');
  const found = values ? isSame(members, values) : members.length > 0 || isSoa;
  if (found === isThere) return;
  throw unheld(one, `${fullName(host, name)} ${type ?? ''}`.trimEnd(), members.length > 0);
}

/** What is said of a prerequisite that does not hold. @param words name what it is about */
function unheld({ type, isThere, values }: Prerequisite, words: string, isSet: boolean): DnsFault {
  const unread = isSet ? values?.find(({ misfit }) => misfit !== null) : undefined;
  if (unread) return unreadable(words, unread.misfit);
  if (values) return new DnsFault(RCODE.NXRRSET, `${words} holds something else`);
  const absent = type === null ? RCODE.NXDOMAIN : RCODE.NXRRSET;
  const present = type === null ? RCODE.YXDOMAIN : RCODE.YXRRSET;
  return new DnsFault(isThere ? absent : present, `${words} is ${isThere ? 'not ' : ''}there`);
}

/** Whether a set holds these values and nothing else. */
function isSame(members: readonly StoredRecord[], values: readonly Named[]): boolean {
  const there = new Set(members.map(dataKey));
  const wanted = new Set(values.map(({ record }) => dataKey(record)));
  return there.size === wanted.size && [...wanted].every((key) => there.has(key));
}

/** Whether a record is one that is there cannot be said: its data is in another form than what is stored. */
const unreadable = (words: string, misfit: string | null): DnsFault =>
  refused(`${words} cannot be told from the records that are there, name the set as a whole: ${misfit}`);

/** The records at the names of an update. */
class Copy {
  private readonly hosts = new Map<string, Item[]>();
  private readonly removed: (Item & { row: StoredRecord })[] = [];

  constructor(
    private readonly domain: OpenDomain,
    rows: readonly StoredRecord[],
  ) {
    for (const row of rows) this.at(row.host).push({ record: row, key: dataKey(row), row, ttl: null });
  }

  carryOut(step: Step): void {
    switch (step.op) {
      case 'add':
        this.add(step);
        break;
      case 'delete':
        this.delete(step);
        break;
      case 'delete-set': {
        const { host, type } = step;
        // the zone would be none without them (section 3.4.2.3)
        const isKept = host === '@' && (type === 'SOA' || type === 'NS');
        this.remove(host, type, null, ({ record }) => !isKept && record.type === type);
        break;
      }
      case 'delete-name': {
        const { host } = step;
        // of types that may not be deleted it would tell that there are none
        this.may('delete', { host, type: ANY, value: null });
        this.remove(host, ANY, null, ({ record }) => host !== '@' || record.type !== 'NS');
      }
    }
  }

  private at(host: string): Item[] {
    const items = this.hosts.get(host) ?? [];
    this.hosts.set(host, items);
    return items;
  }

  /** Section 3.4.2.2. */
  private add({ record, ttl, misfit }: Step & { op: 'add' }): void {
    const { host, type } = record;
    const name = fullName(host, this.domain.name);
    if (MANAGED_TYPES.has(type))
      throw refused(`${name} ${type}: records of this type are kept by the provider; leave them out`);
    if (misfit !== null) throw refused(`${name} ${type}: ${misfit}`);
    const here = this.at(host);
    const isCname = type === 'CNAME';
    const inTheWay = here.some((item) => (item.record.type === 'CNAME') !== isCname);
    if (inTheWay || (isCname && host === '@')) {
      this.may('create', record);
      return;
    }
    const key = dataKey(record);
    const there = here.find((item) => item.key === key);
    if (there) {
      there.ttl = ttl;
      return;
    }
    // of this type a name has one
    if (isCname) for (const item of [...here]) this.drop(item);
    const i = this.removed.findIndex((item) => item.key === key);
    const [before] = i < 0 ? [] : this.removed.splice(i, 1);
    here.push(before ? { ...before, ttl } : { record, key, row: null, ttl });
  }

  /** Section 3.4.2.4. */
  private delete({ record, misfit }: Named): void {
    const { host, type, value } = record;
    const members = this.at(host).filter((one) => one.record.type === type);
    const isLastNs = host === '@' && type === 'NS' && members.length < 2;
    const isKept = isLastNs || (host === '@' && type === 'SOA');
    const key = dataKey(record);
    if (misfit !== null && members.length && !members.some((one) => one.key === key)) {
      this.may('read', record);
      this.may('delete', record);
      throw unreadable(`${fullName(host, this.domain.name)} ${type}`, misfit);
    }
    this.remove(host, type, value, (item) => !isKept && item.key === key);
  }

  /** @throws AppError 403001 where nothing is there, and nothing might be deleted */
  private remove(host: string, type: string, value: string | null, which: (item: Item) => boolean): void {
    const gone = this.at(host).filter(which);
    for (const item of gone) this.drop(item);
    if (!gone.length) this.may('delete', { host, type, value });
  }

  private drop(item: Item): void {
    const here = this.at(item.record.host);
    here.splice(here.indexOf(item), 1);
    const { row } = item;
    if (row) this.removed.push({ ...item, row });
  }

  private may(
    action: 'read' | 'create' | 'delete',
    { host, type, value }: { host: string; type: string; value: string | null },
  ) {
    assertMay(this.domain.access, this.domain.id, action, { host, type, value, ttl: 0 });
  }

  /** @param rows all at the names, those that are not in DNS, too */
  async edits(place: Place, rows: readonly StoredRecord[]): Promise<Edit[]> {
    const gone = this.removed.map(({ row }) => row);
    const moved: Edit[] = [];
    const made: Edit[] = [];
    const stored = new Map(rows.map((row) => [dataKey(row), row]));
    for (const { record, key, row, ttl } of [...this.hosts.values()].flat()) {
      if (due()) await turn();
      if (ttl === null) continue;
      const known = row ?? stored.get(key);
      const one = creationOf(place, known ?? record, ttl);
      if (known) {
        // by the text that is stored: the same data in another text would be one more record
        const record = { ...one.record, value: known.value };
        made.push({ op: 'upsert', ...one, record, patch: { enabled: true, ttl: one.record.ttl } });
        continue;
      }
      const before = gone.findIndex((old) => isReplaceable(this.domain, old, one));
      if (before >= 0) {
        moved.push(moving(gone.splice(before, 1)[0] as StoredRecord, one));
        continue;
      }
      // its outcome shows whether it was there
      this.may('read', record);
      // an upsert would change the record of another priority
      made.push({ op: 'create', ...one });
    }
    // what goes makes room first: a CNAME for addresses
    return [...gone.map(({ id }): Edit => ({ op: 'delete', id })), ...moved, ...made];
  }
}

/** Whether a record can get another value, so that its set is never without one in between. */
const isReplaceable = ({ access, id }: OpenDomain, old: StoredRecord, { record }: NewRecord): boolean =>
  old.host === record.host &&
  old.type === record.type &&
  !old.read_only &&
  [old, record].every((state) => judgeRecord(access, id, 'update', state).allowed);

function moving({ id }: StoredRecord, { record }: NewRecord): Edit {
  const { priority, ttl } = record;
  // an end was set for the value that goes
  const patch = { value: shownValue(record), ...(priority !== null && { priority }), ttl, expires_at: null };
  return { op: 'update', id, patch };
}

/** Clients send whatever TTL they have: the nearest one that the provider takes. */
function creationOf(place: Place, { host, type, value, priority }: Content, ttl: number): NewRecord {
  const { minTtl, maxTtl } = place.definition.capabilities;
  return creation(place, {
    host: `${fullName(host, place.zone)}.`,
    type,
    value: shownValue({ type, value }),
    priority: priority ?? undefined,
    ttl: Math.min(Math.max(ttl, minTtl), maxTtl),
  });
}
