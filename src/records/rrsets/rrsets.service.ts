import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import type { Connection } from '../../accounts/provider-connections.js';
import type { Actor } from '../../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../../cache/record-cache.js';
import { doorOf, type ListOptions } from '../../changes/change-sets.js';
import { creation, type Edit, type NewRecord, type Place, Places } from '../../changes/edits/edit.js';
import { defined, givesWay } from '../../changes/edits/record-rules.js';
import { WorkingCopy } from '../../changes/edits/working-copy.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { readsRecords } from '../../changes/history/who.js';
import type { Result } from '../../changes/results.js';
import { type DnsRecord, sameRecord, shownValue } from '../../dns/record.js';
import { assertMay, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { AppError, errors, InvalidRecord } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';
import type { Conditions } from '../../platform/http/conditions.js';
import { ProviderError } from '../../providers/kit/http/errors.js';
import { derivedId, keyText } from '../../providers/kit/rrsets/record-set.js';
import type { Action } from '../../tokens/rules/token-rules.js';
import { served } from '../served.js';
import type { ReplacedMember, RrsetInput, RrsetResult, RrsetView } from './rrset.dto.js';
import {
  type Address,
  assertAddressed,
  assertSeen,
  fieldsOf,
  type Key,
  keyOf,
  membersOf,
  viewOf,
} from './rrset-view.js';

/** times that a set is made as it shall be while others write it at the provider */
const ATTEMPTS = 3;

/** A set that is given other values, as one of many. */
export interface Wish {
  key: Key;
  /** as of `RrsetsService.replace`; it may be asked again */
  choose: (values: string[]) => readonly string[];
}

/** A record of a set that is made as a whole. */
export interface Wanted extends Omit<NewRecord, 'remark'> {
  /** left out: that of the record whose place it takes; of a new one none */
  remark?: string;
}

/** One that says nothing of its remark. */
const withoutRemark = ({ remark: _, ...wanted }: NewRecord): Wanted => wanted;

/** What one of many sets shall hold, by the records that are there; it may be asked again. */
export interface WholeWish {
  key: Key;
  choose: (members: readonly StoredRecord[]) => readonly Wanted[];
}

/** What becomes of a set, as a client says it. */
interface Write {
  key: Key;
  /** @param rows of its name */
  of: (rows: readonly StoredRecord[]) => Edit[];
}

/** The provider held something else than what was judged: nothing was written. */
export class SetChanged extends AppError {}

/** Record sets as a whole: made what a client says, as often as it likes. */
@Injectable()
export class RrsetsService {
  constructor(
    private readonly engine: ChangeEngine,
    private readonly places: Places,
    private readonly cache: RecordCache,
  ) {}

  /** @throws AppError 404001 when there is no such set, or nothing of it may be read */
  async get(domain: OpenDomain, host: string, type: string, line?: string): Promise<RrsetView> {
    const key = keyOf(domain, host, type, line);
    const view = viewOf(domain, key, await this.cache.those(domain.id, 'host', [key.host]));
    if (!view) throw errors.notFound('record_set');
    return view;
  }

  /**
   * Makes the set what the values say, in one atomic list: values that stay keep their records, one that takes the
   * place of another one keeps its id and remark, not its end.
   * @throws AppError 400001, 403001, 409001, 412001; ProviderError
   */
  async put(
    me: Caller,
    domain: OpenDomain,
    address: Address,
    input: RrsetInput,
    conditions: Conditions,
  ): Promise<RrsetResult> {
    assertAddressed(domain, address, input);
    const place = await this.places.of(domain, input.ttl);
    const { host, type } = address;
    const { ttl } = input;
    const line = input.line ?? address.line;
    const wanted = input.values.map((one, i) => {
      try {
        return withoutRemark(creation(place, { host, type: type.toUpperCase(), ttl, line, ...one }));
      } catch (error) {
        if (!(error instanceof InvalidRecord)) throw error;
        const own = new Set(['value', 'priority', 'weight', 'enabled']);
        throw new InvalidRecord(
          error.mistakes.map((e) => ({ ...e, path: own.has(e.path) ? `values.${i}.${e.path}` : e.path })),
        );
      }
    });
    const twice = wanted.findIndex(({ record }, i) => wanted.some((o, j) => j < i && sameRecord(o.record, record)));
    if (twice >= 0) throw errors.field(`values.${twice}`, 'is there twice', 'duplicate');
    const [{ record: first }] = wanted as [Wanted];
    const key = { host: first.host, type: first.type, line: first.line };
    const records = wanted.map(({ record }) => record);
    // the answer shows whether they were there
    for (const record of records) assertMay(domain.access, domain.id, 'read', record);
    const of = (rows: readonly StoredRecord[]) => editsOf(ownOf(place, rows, key), wanted);
    return this.write(me, domain, [{ key, of }], place.connection, { wanted: records, conditions });
  }

  /**
   * Makes several sets what is chosen for each, in one atomic list; records move over as in `put`. What `choose` throws
   * is thrown.
   * @returns whether something had to be written
   * @throws AppError 400001, 403001, 409001; ProviderError
   */
  async putAll(me: Caller, domain: OpenDomain, wishes: readonly WholeWish[]): Promise<boolean> {
    const place = await this.places.of(domain);
    const writes = wishes.map(({ key, choose }): Write => {
      const of = (rows: readonly StoredRecord[]) => {
        const own = ownOf(place, rows, key);
        const wanted = chosen(domain, key, () => choose(own));
        // the answer may show whether they were there
        for (const { record } of wanted) assertMay(domain.access, domain.id, 'read', record);
        return editsOf(own, wanted);
      };
      return { key, of };
    });
    return (await this.write(me, domain, writes, place.connection)).changed;
  }

  /** Deletes what there is of it. @throws AppError 403001, 412001; ProviderError */
  async remove(
    me: Caller,
    domain: OpenDomain,
    host: string,
    type: string,
    conditions: Conditions,
    line?: string,
  ): Promise<RrsetResult> {
    const key = keyOf(domain, host, type, line);
    const { connection } = await this.places.of(domain);
    const of = (rows: readonly StoredRecord[]) =>
      membersOf(served(domain.provider, rows), key).map(({ id }): Edit => ({ op: 'delete', id }));
    return this.write(me, domain, [{ key, of }], connection, { wanted: [], conditions });
  }

  /** Of each set the values that are in DNS, from the cache. */
  async values(domain: Pick<OpenDomain, 'id' | 'provider'>, keys: readonly Key[]): Promise<string[][]> {
    return (await this.records(domain, keys)).map(inDns);
  }

  /** Of each set the records that are in DNS, from the cache. */
  async records(domain: Pick<OpenDomain, 'id' | 'provider'>, keys: readonly Key[]): Promise<StoredRecord[][]> {
    const hosts = [...new Set(keys.map(({ host }) => host))];
    const rows = served(domain.provider, await this.cache.those(domain.id, 'host', hosts));
    return keys.map((key) => membersOf(rows, key).filter((row) => row.enabled));
  }

  /**
   * Gives a set other values, its TTL and all else kept, in one atomic list: where the provider does not hold what was
   * judged, it is refused. Disabled records stay as they are, but those of the new values.
   * @param choose the new values, by those that are in DNS; judged under the lock of the name. What it throws is thrown
   * @returns the change set; null: the values are there
   * @throws SetChanged; AppError 400001, 403001, 409001, 412001; ProviderError
   */
  async replace(
    actor: Actor,
    domain: OpenDomain,
    key: Key,
    options: ListOptions,
    choose: (values: string[]) => readonly string[],
  ): Promise<number | null> {
    const place = await this.places.of(domain);
    const of = (rows: readonly StoredRecord[]) => replacing(place, ownOf(place, rows, key), key, choose);
    const bound = { ...options, only: [key] };
    const { changeSet, results } = await this.engine.whole(
      actor,
      domain,
      { hosts: [key.host], of },
      bound,
      place.connection,
    );
    assertReplaced(results);
    return changeSet;
  }

  /**
   * The same for many sets in one list, each for itself: one that is refused, or whose edits do not fit, is left out.
   * Each is written whole or not at all at vendors of whole sets, and only there (see `goTogether`).
   * @returns the change set, null where nothing was to be done; and of each set why it is not as it shall be, or null
   * @throws what stops them all: AppError; ProviderError
   */
  async replaceEach(
    actor: Actor,
    domain: OpenDomain,
    wishes: readonly Wish[],
    options: Omit<ListOptions, 'atomic'>,
  ): Promise<{ changeSet: number | null; failures: unknown[] }> {
    const place = await this.places.of(domain);
    let parts: Part[] = [];
    const of = async (rows: readonly StoredRecord[]): Promise<Edit[]> => {
      parts = await partsOf(place, domain, wishes, rows);
      return parts.flatMap(({ edits }) => edits);
    };
    const hosts = [...new Set(wishes.map(({ key }) => key.host))];
    const bound = { ...options, atomic: false, only: wishes.map(({ key }) => key) };
    const { changeSet, results } = await this.engine.whole(actor, domain, { hosts, of }, bound, place.connection);
    let at = 0;
    const failures = parts.map(({ edits, failure }) => {
      if (failure) return failure;
      const own = results.slice(at, at + edits.length);
      at += edits.length;
      return failureOf(() => assertReplaced(own));
    });
    return { changeSet, failures };
  }

  /** Whether many sets of a domain can be written in one list, and none of them be half written. */
  async goTogether(domain: OpenDomain): Promise<boolean> {
    return (await this.places.of(domain)).definition.capabilities.replaces !== 'record';
  }

  private async write(
    me: Caller,
    domain: OpenDomain,
    writes: readonly Write[],
    connection: Connection,
    { wanted = [], conditions = {} }: { wanted?: readonly DnsRecord[]; conditions?: Conditions } = {},
  ): Promise<RrsetResult> {
    const { access, id } = domain;
    const conditional = Object.values(conditions).some((one) => one !== undefined);
    const keys = writes.map(({ key }) => key);
    const options = { door: doorOf(me), comment: '', atomic: true, only: keys, conditional };
    const sets = new Set(keys.map(keyText));
    const replaced = new Map<string, StoredRecord>();
    const edits = async (rows: readonly StoredRecord[], foreign: readonly StoredRecord[]) => {
      for (const row of foreign) if (sets.has(keyText(row))) replaced.set(derivedId(row), row);
      const names = byHost(keys, rows);
      const list: Edit[] = [];
      for (const one of writes) {
        if (due()) await turn();
        list.push(
          ...judged(me, domain, one, names.get(one.key.host) as StoredRecord[], conditional ? conditions : null),
        );
      }
      // what goes makes room first: a CNAME for addresses
      return [...list.filter(({ op }) => op === 'delete'), ...list.filter(({ op }) => op !== 'delete')];
    };
    const hosts = [...new Set(keys.map(({ host }) => host))];
    for (let attempt = 1; ; attempt++) {
      const list = { hosts, sets: keys, of: edits };
      const { results } = await this.engine.whole(me, domain, list, options, connection);
      // somebody wrote there between our reading and the write
      if (attempt < ATTEMPTS && isOutrun(results)) continue;
      assertDone(results);
      // each member has its edit
      const records = results.flatMap((result) => (result.ok && result.id !== null ? [result.id] : []));
      const gone = [...replaced.values()].filter((row) => !wanted.some((one) => sameRecord(one, row)));
      const told = readsRecords(me) ? gone.filter((row) => judgeRecord(access, id, 'read', row).allowed) : [];
      const changed = !readsRecords(me) || results.some((result) => result.ok && result.written);
      return { changed, records: records.sort((a, b) => a - b), ...(told.length && { replaced: told.map(shown) }) };
    }
  }
}

/** What a set shall hold; why nothing fits tells what it holds: to who may read there. @throws AppError 403001 */
function chosen({ access, id }: OpenDomain, key: Key, choose: () => readonly Wanted[]): readonly Wanted[] {
  try {
    return choose();
  } catch (error) {
    assertMay(access, id, 'read', { ...key, value: null, ttl: 0 });
    throw error;
  }
}

/** The edits of a set, where the caller may know of them. @param rows of its name @throws AppError 403001, 412001 */
function judged(
  me: Caller,
  domain: OpenDomain,
  { key, of }: Write,
  rows: readonly StoredRecord[],
  conditions: Conditions | null,
): Edit[] {
  const { access, id } = domain;
  const list = of(rows);
  const may = (action: Action, row: StoredRecord) => judgeRecord(access, id, action, row).allowed;
  const isHidden = membersOf(rows, key).some((row) => !may('read', row) && !may('delete', row));
  // where there is nothing to do, or nothing that the caller may know of, no edit is judged: who may delete nothing
  // there learns nothing
  if (!list.length || isHidden) assertMay(access, id, 'delete', { ...key, value: null, ttl: 0 });
  if (isHidden) throw errors.forbidden('set_not_replaceable');
  if (conditions) assertSeen(conditions, domain, key, rows, readsRecords(me));
  return list;
}

/** Rows by the names of some sets. */
function byHost(keys: readonly Key[], rows: readonly StoredRecord[]): Map<string, StoredRecord[]> {
  const names = new Map<string, StoredRecord[]>();
  for (const { host } of keys) names.set(host, []);
  for (const row of rows) names.get(row.host)?.push(row);
  return names;
}

const shown = (row: StoredRecord): ReplacedMember => ({ ...fieldsOf(row), ttl: row.ttl });

/** The provider held other records than were judged, and nothing was written. */
const isOutrun = (results: readonly Result[]): boolean =>
  results.some((result) => !result.ok && result.error.status === 412) && !isPart(results);

/** Where the provider takes one record after the other, a part of the set may be as it was said. */
const isPart = (results: readonly Result[]): boolean =>
  results.some((result) => (result.ok ? result.written : result.state === 'unknown'));

/** @throws SetChanged; AppError why the set does not hold its new values */
function assertReplaced(results: readonly Result[]): void {
  const failed = results.find((result) => !result.ok);
  if (failed && !failed.ok && isOutrun(results))
    throw new SetChanged(412, 412001, failed.error.message, failed.error.data);
  assertDone(results);
}

/** @throws AppError why the set is not as it was said */
function assertDone(results: readonly Result[]): void {
  const failed = results.find((result) => !result.ok);
  if (!failed || failed.ok) return;
  const { error } = failed;
  throw isPart(results) && error instanceof ProviderError ? error.applied(true) : error;
}

/** Edits that give a set other values: its TTL and all else are kept, and each record is as it was judged. */
function replacing(place: Place, members: readonly StoredRecord[], key: Key, choose: Wish['choose']): Edit[] {
  const wanted = choose(inDns(members));
  const like = members.find((row) => row.enabled);
  const records = wanted.map((value) => {
    const one = creation(place, { ...key, value, ttl: like?.ttl, proxied: like?.proxied });
    return { ...withoutRemark(one), ttlGiven: false };
  });
  const taken = takenOver(members, wanted);
  const concerned = members.filter((row) => (row.enabled || wanted.includes(row.value)) && !taken.includes(row));
  const edits = [...taken.map(({ id }): Edit => ({ op: 'delete', id })), ...editsOf(concerned, records)];
  return edits.map((edit) => ('id' in edit ? { ...edit, ifMatch: '*' } : edit));
}

/** What is to be done for one of many sets; with a failure nothing is. */
interface Part {
  edits: Edit[];
  failure: unknown;
}

/** Judges each of many sets beside those of its name that are written before it. */
async function partsOf(
  place: Place,
  domain: OpenDomain,
  wishes: readonly Wish[],
  rows: readonly StoredRecord[],
): Promise<Part[]> {
  const names = new Map<string, { rows: StoredRecord[]; edits: Edit[] }>();
  const keys = wishes.map(({ key }) => key);
  for (const [host, own] of byHost(keys, rows)) names.set(host, { rows: own, edits: [] });
  const parts: Part[] = [];
  for (const { key, choose } of wishes) {
    if (due()) await turn();
    const name = names.get(key.host) as { rows: StoredRecord[]; edits: Edit[] };
    let edits: Edit[] = [];
    const failure = failureOf(() => {
      edits = replacing(place, ownOf(place, name.rows, key), key, choose);
      const copy = new WorkingCopy(place.definition, domain, name.rows, () => false, false);
      const misfit = [...name.edits, ...edits].map((edit, i) => copy.plan(edit, i).error).find((error) => error);
      if (misfit) throw misfit;
    });
    if (failure) edits = [];
    name.edits.push(...edits);
    parts.push({ edits, failure });
  }
  return parts;
}

/** What a judgement throws; null: nothing. */
function failureOf(judge: () => void): unknown {
  try {
    judge();
    return null;
  } catch (error) {
    return error;
  }
}

/** Without what gives way to others. */
const ownOf = ({ definition }: Place, rows: readonly StoredRecord[], key: Key): StoredRecord[] =>
  membersOf(rows, key).filter((row) => !givesWay(row, definition.capabilities));

/**
 * Disabled rows of wanted values that take the place of others in DNS: those others get the values, and these rows go.
 * To enable them would take away what is served first, and a failure in between would leave nothing.
 */
function takenOver(rows: readonly StoredRecord[], wanted: readonly string[]): StoredRecord[] {
  const spare = rows.filter((row) => row.enabled && !row.read_only && !wanted.includes(row.value)).length;
  return rows.filter((row) => !row.enabled && !row.read_only && wanted.includes(row.value)).slice(0, spare);
}

const inDns = (rows: readonly StoredRecord[]): string[] => rows.filter((row) => row.enabled).map((row) => row.value);

/** What makes the rows of a set the wanted records. */
function editsOf(rows: readonly StoredRecord[], wanted: readonly Wanted[]): Edit[] {
  const left = new Set(rows);
  const missing: Wanted[] = [];
  const edits: Edit[] = [];
  for (const one of wanted) {
    const row = rows.find((r) => left.has(r) && sameRecord(r, one.record));
    if (row && left.delete(row)) edits.push({ op: 'update', id: row.id, patch: patchOf(one) });
    else missing.push(one);
  }
  const spare = [...left].filter((row) => !row.read_only);
  const moved = missing.splice(0, spare.length);
  const replaced = moved.map((one, i): Edit => {
    const { value, type } = one.record;
    // an end was set for the value that goes
    const patch = { ...patchOf(one), value: shownValue({ type, value }), expires_at: null };
    return { op: 'update', id: (spare[i] as StoredRecord).id, patch };
  });
  const gone = [...left].filter((row) => row.read_only || !spare.slice(0, moved.length).includes(row));
  return [
    ...gone.map(({ id }): Edit => ({ op: 'delete', id })),
    ...edits,
    ...replaced,
    ...missing.map((one): Edit => ({ op: 'create', ...one, remark: one.remark ?? '' })),
  ];
}

const patchOf = ({ record, ttlGiven, remark }: Wanted) => {
  const { ttl, priority, weight, enabled }: DnsRecord = record;
  return { enabled, ...defined({ ttl: ttlGiven ? ttl : null, priority, weight, remark }) };
};
