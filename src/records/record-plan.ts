import type { EntityManager } from 'typeorm';
import { assertUnchanged } from '../common/read-only.js';
import type { Action, RecordState } from '../common/token-rules.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../dns/record.js';
import { assertMay } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import type { Capabilities, Change, ProviderDefinition } from '../providers/provider.js';
import { derivedId } from '../providers/rrset.js';
import type { RecordInput, RecordPatch } from './record.dto.js';
import type { RecordCache, StoredRecord } from './record-cache.js';
import { assertEditable, assertFits, changesOf, mergedRecord, newRecord, plainRecord } from './record-rules.js';
import { recordView } from './record-view.js';

/** One wish of a caller. */
export type Edit =
  | { op: 'create'; input: RecordInput; defaultTtl?: number }
  | { op: 'update'; id: number; patch: RecordPatch }
  | { op: 'delete'; id: number }
  | { op: 'status'; id: number; enabled: boolean };

/**
 * A wish, checked against the rules and the cache: what the provider has to do, and what the cache becomes afterwards.
 */
export interface Plan {
  /** null: nothing to do at the provider (a record that exists only here) */
  change: Change | null;
  before: StoredRecord | null;
  /** the record afterwards; null after a deletion */
  after: DnsRecord | null;
  remark: string;
  /** everything is already as it was wished: nothing is written, here or there */
  idle?: true;
}

/** Where a row of a domain is meant, but there is none. */
export class NoSuchRecord extends Error {}

/** The names that an edit touches, as far as they are known before the locks are held. */
export function hostsOf(edit: Edit, row: StoredRecord | null, definition: ProviderDefinition, zone: string): string[] {
  if (edit.op === 'create') return [newRecord(definition, zone, edit.input, edit.defaultTtl).host];
  if (!row) throw new NoSuchRecord();
  const patch = patchOf(edit);
  // said first: what is only shown need not be a record that the service could check
  if (!patch || changesOf(patch, row).size) assertEditable(row);
  return patch ? [...new Set([row.host, mergedRecord(definition, zone, row, patch).host])] : [row.host];
}

/** What an edit changes of its record: the status is one field among the others. Null for creations and deletions. */
const patchOf = (edit: Edit): RecordPatch | null =>
  edit.op === 'update' ? edit.patch : edit.op === 'status' ? { enabled: edit.enabled } : null;

/** A stored row as the record that the provider holds. */
const remote = (row: StoredRecord): RemoteRecord => ({
  ...plainRecord(row),
  remoteId: row.remote_id ?? derivedId(row),
  readOnly: row.read_only,
});

/** What brings a provider from one state of a record to another; null where it is not concerned. */
function changeOf(before: StoredRecord, after: DnsRecord, { toggle }: Capabilities): Change | null {
  // a disabled record is kept here where the provider cannot hold such
  if (before.remote_id === null) return after.enabled ? { op: 'create', after } : null;
  if (!after.enabled && !toggle) return { op: 'delete', before: remote(before) };
  return { op: 'update', before: remote(before), after };
}

/**
 * Checks one edit against the rights of who asks, the rules of DNS and the cached records of the names it touches (read
 * under their locks). An update, enabling and disabling included, must be allowed for the old and for the new state,
 * and, where the TTL belongs to the set, for the neighbours whose TTL changes with it.
 * @param mayRead whether who asks may see a record that is in the way
 * @throws AppError 400001, 403001, 409001; NoSuchRecord
 */
export function planEdit(
  edit: Edit,
  definition: ProviderDefinition,
  domain: OpenDomain,
  rows: readonly StoredRecord[],
  mayRead: (row: StoredRecord) => boolean,
): Plan {
  const { capabilities } = definition;
  const others = (host: string, id?: number) => rows.filter((r) => r.host === host && r.id !== id);
  // the set at the provider: what is kept here has a TTL of its own
  const setOf = (record: DnsRecord, at: StoredRecord[]) =>
    at.filter((o) => o.type === record.type && o.remote_id !== null);
  // a TTL that was not given must not change that of the set which the record joins
  const join = (record: DnsRecord, at: StoredRecord[]) => {
    const [sibling] = setOf(record, at);
    if (capabilities.ttlOf === 'set' && sibling) record.ttl = sibling.ttl;
  };
  const may = (action: Action, state: RecordState) => assertMay(domain.access, domain.id, action, state);
  const mayMoveTtl = (record: DnsRecord, at: StoredRecord[]) => {
    if (capabilities.ttlOf !== 'set') return;
    // what stays here does not touch the set
    if (!record.enabled && !capabilities.toggle) return;
    for (const sibling of setOf(record, at).filter((o) => o.ttl !== record.ttl)) {
      may('update', sibling);
      may('update', { ...sibling, ttl: record.ttl });
    }
  };
  if (edit.op === 'create') {
    const after = newRecord(definition, domain.name, edit.input, edit.defaultTtl);
    if ((edit.input.ttl ?? null) === null) join(after, others(after.host));
    may('create', after);
    mayMoveTtl(after, others(after.host));
    assertFits(after, others(after.host), mayRead);
    return { change: { op: 'create', after }, before: null, after, remark: edit.input.remark ?? '' };
  }
  const before = rows.find((r) => r.id === edit.id);
  if (!before) throw new NoSuchRecord();
  const patch = patchOf(edit);
  may(patch ? 'update' : 'delete', before);
  if (!patch) {
    assertEditable(before);
    const change: Change | null = before.remote_id === null ? null : { op: 'delete', before: remote(before) };
    return { change, before, after: null, remark: before.remark };
  }
  if (changesOf(patch, before).size) assertEditable(before);
  assertUnchanged(patch, recordView(before, domain));
  const after = mergedRecord(definition, domain.name, before, patch);
  const remark = patch.remark ?? before.remark;
  if (equal(after, before))
    return { change: null, before, after, remark, ...(remark === before.remark && { idle: true }) };
  const at = others(after.host, before.id);
  const moves = after.host !== before.host || after.type !== before.type;
  if (moves && (patch.ttl ?? null) === null) join(after, at);
  may('update', after);
  mayMoveTtl(after, at);
  // a record that only goes is in nobody's way
  if (after.enabled || !sameRecord(after, before)) assertFits(after, at, mayRead);
  return { change: changeOf(before, after, capabilities), before, after, remark };
}

const equal = (after: DnsRecord, before: StoredRecord): boolean =>
  (Object.keys(after) as (keyof DnsRecord)[]).every((key) => after[key] === before[key]);

/**
 * What a plan makes of the row that it changes, as `RecordChange.expected` keeps it: known in advance where ids are
 * derived from the content.
 */
export function expectation(
  { change, before, after }: Plan,
  { capabilities }: ProviderDefinition,
): [number, string | null][] {
  if (!change || !before || !after) return [];
  if (change.op === 'delete') return [[before.id, null]];
  return capabilities.ids === 'derived' ? [[before.id, derivedId(after)]] : [];
}

/** How a plan was carried out. */
export interface Done {
  domainId: number;
  /** the provider's id of the record afterwards */
  remoteId: string | null;
  /** the TTL belongs to the set: its other members have it now, too */
  setTtl: boolean;
}

/**
 * Brings the cache to what a plan says, in the transaction that also resolves the intent.
 * @returns the row's id, null after a deletion
 */
export async function commitPlan(
  cache: RecordCache,
  manager: EntityManager,
  plan: Plan,
  { domainId, remoteId, setTtl }: Done,
): Promise<number | null> {
  const { before, after, remark } = plan;
  if (!after) {
    await cache.remove(manager, domainId, before ? [before.id] : []);
    return null;
  }
  const row = { ...after, remark, remote_id: remoteId, read_only: false };
  const [id = 0] = await cache.write(manager, domainId, [{ id: before?.id ?? null, row }]);
  if (setTtl && remoteId !== null) await cache.alignTtl(manager, domainId, after.host, after.type, after.ttl);
  return id;
}
