import type { StoredRecord } from '../../cache/record-cache.js';
import { creation, type NewRecord, type Place } from '../../changes/edits/edit.js';
import { hostName } from '../../dns/names.js';
import { MAX_TTL, recordKey, sameRecord } from '../../dns/record.js';
import { errors, InvalidRecord } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import { say } from '../../platform/common/words/field-text.js';
import type { Key } from '../../records/rrsets/rrset-view.js';
import type { Wanted, WholeWish } from '../../records/rrsets/rrsets.service.js';
import { hasRemark, remarkOf } from './comments.js';
import { contentOf, LINE } from './rrsets.js';

const CHANGE_TYPES = ['REPLACE', 'DELETE', 'EXTEND', 'PRUNE'] as const;
type ChangeType = (typeof CHANGE_TYPES)[number];

/** sets, and records, of one request */
const MOST = 5000;
/** records of one set */
const MOST_OF_SET = 1000;
const MOST_CHARACTERS = 262_144;
/** types whose content ends in a name, which PowerDNS takes with its final dot only */
const POINTING: ReadonlySet<string> = new Set(['CNAME', 'ALIAS', 'DNAME', 'MX', 'NS', 'PTR', 'SRV']);

/** A record of a request, and what it means; `misfit`: why it means nothing, unless the provider holds it so. */
type Item = { content: string; enabled: boolean; path: string } & ({ made: NewRecord } | { misfit: Error });

/** What a request says of one set. */
export interface SetChange {
  key: Key;
  changetype: ChangeType;
  path: string;
  /** null: they stay */
  items: readonly Item[] | null;
  /** seconds */
  ttl: number;
  /** undefined: comments stay */
  remark: string | undefined;
}

type Given = Record<string, unknown>;

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws AppError 400001 */
export function objectOf(value: unknown, path: string): Given {
  if (!isObject(value)) throw errors.field(path, 'must be an object');
  return value;
}

/** A list of a request; null and left out: none was given. @throws AppError 400001 */
function listOf(value: unknown, path: string, max: number): unknown[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw errors.field(path, 'must be a list');
  if (value.length > max) throw errors.field(path, say('must hold no more than {max}', { max }), 'length', { max });
  return value;
}

/** A full name of a request, with its final dot. @throws AppError 400001 */
export function canonicalName(value: unknown, path: string): string {
  if (typeof value !== 'string' || !value || value.length > 1100) throw errors.field(path, 'must be text', 'required');
  if (!value.endsWith('.'))
    throw errors.field(path, say('"{name}" is not canonical: it must end with a dot', { name: value.slice(0, 260) }));
  return value;
}

/** The changes of the sets of a zone. @param fixed the change type of all of them, where they need name none */
export async function changesOf(place: Place, rrsets: unknown, fixed?: ChangeType): Promise<SetChange[]> {
  const list = listOf(rrsets, 'rrsets', MOST);
  if (!list) throw errors.field('rrsets', 'must be a list', 'required');
  const changes: SetChange[] = [];
  const seen = new Set<string>();
  let records = 0;
  for (const [i, one] of list.entries()) {
    if (due()) await turn();
    const path = `rrsets.${i}`;
    const given = objectOf(one, path);
    const key = keyOf(place, given, path);
    const changetype = fixed ?? changeTypeOf(given, path);
    const id = JSON.stringify([key.host, key.type, changetype]);
    if (seen.has(id) && (changetype === 'REPLACE' || changetype === 'DELETE'))
      throw errors.field(path, 'is there twice', 'duplicate');
    seen.add(id);
    // it is the provider's own: clients that echo a zone, or know of no SOA, mean nothing by it
    if (key.type === 'SOA') continue;
    records += Array.isArray(given.records) ? given.records.length : 0;
    if (records > MOST) throw errors.field('rrsets', say('must hold no more than {max}', { max: MOST }), 'length');
    changes.push(await changeOf(place, given, key, changetype, path));
  }
  return changes;
}

function keyOf({ zone }: Place, { name, type }: Given, path: string): Key {
  const host = hostName(canonicalName(name, `${path}.name`), zone, `${path}.name`);
  if (typeof type !== 'string' || !/^[a-z0-9-]{1,16}$/i.test(type))
    throw errors.field(`${path}.type`, 'must be a record type');
  return { host, type: type.toUpperCase(), line: LINE };
}

/** Whether a value of a request is this word, in any case. */
export const isWord = (value: unknown, word: string): boolean =>
  typeof value === 'string' && value.toLowerCase() === word.toLowerCase();

function changeTypeOf({ changetype }: Given, path: string): ChangeType {
  const found = CHANGE_TYPES.find((one) => isWord(changetype, one));
  if (found) return found;
  const values = CHANGE_TYPES.join(', ');
  throw errors.field(`${path}.changetype`, say('must be one of {values}', { values }), 'choice');
}

async function changeOf(place: Place, given: Given, key: Key, changetype: ChangeType, path: string) {
  const change = { key, changetype, path, items: null, ttl: 0, remark: undefined };
  // what is deleted may be sent along
  if (changetype === 'DELETE') return change;
  const records = listOf(given.records, `${path}.records`, MOST_OF_SET);
  const comments = changetype === 'REPLACE' ? listOf(given.comments, `${path}.comments`, MOST_OF_SET) : null;
  if (!records && !comments) throw errors.field(path, 'must have records or comments as a list', 'required');
  if (changetype !== 'REPLACE' && records?.length !== 1)
    throw errors.field(`${path}.records`, 'must have exactly one record');
  const ttl = records?.length ? fitting(place, key, ttlOf(given.ttl, path)) : 0;
  const remark = comments ? remarkOf(comments, `${path}.comments`) : undefined;
  if (!records) return { ...change, remark };
  const items: Item[] = [];
  for (const [i, one] of records.entries()) {
    if (due()) await turn();
    items.push(itemOf(place, key, ttl, one, `${path}.records.${i}`, path));
  }
  return { ...change, items, ttl, remark };
}

function ttlOf(value: unknown, path: string): number {
  const ttl = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof ttl === 'number' && Number.isInteger(ttl) && ttl >= 0 && ttl <= MAX_TTL) return ttl;
  const words = say('must be a whole number of seconds from {min} to {max}', { min: 0, max: MAX_TTL });
  throw errors.field(`${path}.ttl`, words, value === undefined ? 'required' : 'range');
}

/**
 * The texts of ACME challenges get the nearest TTL that the provider takes: their clients send one that nobody chose,
 * and some never look at a refusal. Elsewhere a TTL is as it is sent, or refused: tools would find another one each
 * time.
 */
function fitting({ definition }: Place, { host, type }: Key, ttl: number): number {
  const { minTtl, maxTtl, automaticTtl } = definition.capabilities;
  if (type !== 'TXT' || !/^_acme-challenge(\.|$)/.test(host) || ttl === automaticTtl) return ttl;
  return Math.min(Math.max(ttl, minTtl), maxTtl);
}

function itemOf(place: Place, key: Key, ttl: number, one: unknown, path: string, of: string): Item {
  const { content, disabled } = objectOf(one, path);
  if (typeof content !== 'string' || content.length > MOST_CHARACTERS)
    throw errors.field(`${path}.content`, 'must be text');
  if ((disabled ?? null) !== null && typeof disabled !== 'boolean')
    throw errors.field(`${path}.disabled`, 'must be true or false');
  const enabled = !disabled;
  try {
    if (POINTING.has(key.type)) canonicalName(content.trim(), `${path}.content`);
    const made = creation(place, { host: key.host, type: key.type, value: content, ttl, enabled });
    return { content, enabled, path, made };
  } catch (error) {
    if (!(error instanceof InvalidRecord)) return { content, enabled, path, misfit: error as Error };
    const where = (field: string) => FIELDS[field]?.(of) ?? `${path}.content`;
    const mistakes = error.mistakes.map((mistake) => ({ ...mistake, path: where(mistake.path) }));
    return { content, enabled, path, misfit: new InvalidRecord(mistakes) };
  }
}

/** Where mistakes of a record stand in a request. */
const FIELDS: Record<string, (set: string) => string> = {
  host: (set) => `${set}.name`,
  type: (set) => `${set}.type`,
  ttl: (set) => `${set}.ttl`,
};

/** The records of a set, as they are looked for. */
interface Members {
  rows: readonly StoredRecord[];
  byContent: ReadonlyMap<string, StoredRecord>;
  byKey: ReadonlyMap<string, StoredRecord>;
}

/** What the sets of some changes shall hold. Of one set the changes are made in their order. */
export function wishesOf(changes: readonly SetChange[]): WholeWish[] {
  const sets = new Map<string, SetChange[]>();
  for (const change of changes) {
    const id = JSON.stringify([change.key.host, change.key.type]);
    const set = sets.get(id);
    if (set) set.push(change);
    else sets.set(id, [change]);
  }
  return [...sets.values()].map((set) => ({
    key: (set[0] as SetChange).key,
    choose(rows) {
      const byContent = new Map(rows.map((row) => [contentOf(row), row]));
      const members = { rows, byContent, byKey: new Map(rows.map((row) => [recordKey(row), row])) };
      return set.reduce((held, change) => changed(members, held, change), rows.map(asItIs));
    },
  }));
}

const asItIs = (row: StoredRecord): Wanted => ({ record: row, ttlGiven: false });

/** @param members what is there @param held what the changes before this one have left */
function changed(members: Members, held: readonly Wanted[], change: SetChange): Wanted[] {
  switch (change.changetype) {
    case 'DELETE':
      return [];
    case 'REPLACE':
      return replaced(members, held, change);
    default:
      return addedOrTaken(members, held, change);
  }
}

function replaced(members: Members, held: readonly Wanted[], change: SetChange): Wanted[] {
  const { items, remark, path } = change;
  if (!items) {
    // there is nothing that could keep the comments
    if (!held.length) throw errors.field(`${path}.records`, 'must be given', 'required');
    const same = hasRemark(members.rows, remark as string);
    return held.map((one) => (same ? one : { ...one, remark: remark as string }));
  }
  const found = items.map((item) => rowOf(members, item));
  const keeps =
    remark === undefined ||
    hasRemark(
      found.filter((row) => row !== undefined),
      remark,
    );
  const seen = new Set<string>();
  return items.map((item, i): Wanted => {
    const row = found[i];
    const wanted = row
      ? { record: { ...row, ttl: change.ttl, enabled: item.enabled }, ttlGiven: true, ...(!keeps && { remark }) }
      : madeOf(members, item, remark);
    const key = recordKey(wanted.record);
    if (seen.has(key)) throw errors.field(item.path, 'is there twice', 'duplicate');
    seen.add(key);
    return wanted;
  });
}

function addedOrTaken(members: Members, held: readonly Wanted[], change: SetChange): Wanted[] {
  const [item] = change.items as [Item];
  const row = rowOf(members, item);
  const made = row ? asItIs(row) : madeOf(members, item, undefined);
  const others = held.filter(({ record }) => !sameRecord(record, made.record));
  if (change.changetype === 'PRUNE') return others;
  const { enabled } = item;
  if (others.length < held.length)
    return held.map((one) => (others.includes(one) ? one : { ...one, record: { ...one.record, enabled } }));
  // the set has its TTL
  const ttl = held[0]?.record.ttl ?? made.record.ttl;
  return [...held, { ...made, record: { ...made.record, ttl } }];
}

/** The record of a set that an item of a request means: the one that is shown so, or says the same. */
const rowOf = ({ byContent, byKey }: Members, item: Item): StoredRecord | undefined =>
  byContent.get(item.content) ?? ('made' in item ? byKey.get(recordKey(item.made.record)) : undefined);

/** A record that comes to a set: what the client has no word for is as of the others there. */
function madeOf({ rows }: Members, item: Item, remark: string | undefined): Wanted {
  if ('misfit' in item) throw item.misfit;
  const { record, ttlGiven } = item.made;
  const [first] = rows;
  const proxied = first !== undefined && rows.every((row) => row.proxied);
  const own = remark ?? (rows.every((row) => row.remark === first?.remark) ? first?.remark : undefined);
  return { record: { ...record, proxied }, ttlGiven, ...(own !== undefined && { remark: own }) };
}
