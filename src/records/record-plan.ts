import type { EntityManager } from 'typeorm';
import type { Action, RecordState } from '../common/token-rules.js';
import type { Db } from '../database/db.js';
import type { DnsRecord, RemoteRecord } from '../dns/record.js';
import { assertMay } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import type { Change, ProviderDefinition } from '../providers/provider.js';
import { derivedId } from '../providers/rrset.js';
import type { RecordInput, RecordPatch } from './record.dto.js';
import { CachedRecord } from './record.entity.js';
import type { RecordCache, StoredRecord } from './record-cache.js';
import { assertEditable, assertFits, mergedRecord, newRecord } from './record-rules.js';

/** One wish of a caller. */
export type Edit =
  | { op: 'create'; input: RecordInput; defaultTtl?: number }
  | { op: 'update'; id: number; patch: RecordPatch }
  | { op: 'delete'; id: number }
  | { op: 'status'; id: number; enabled: boolean };

/** A wish, checked against the rules and the cache: what the provider has to do, and what the cache becomes afterwards. */
export interface Plan {
  /** null: nothing to do at the provider (a record that exists only here) */
  change: Change | null;
  before: StoredRecord | null;
  /** the record afterwards; null after a deletion */
  after: DnsRecord | null;
  remark: string;
}

/** Where a row of a domain is meant, but there is none. */
export class NoSuchRecord extends Error {}

/** The names that an edit touches, as far as they are known before the locks are held. */
export function hostsOf(edit: Edit, row: StoredRecord | null, definition: ProviderDefinition, zone: string): string[] {
  if (edit.op === 'create') return [newRecord(definition, zone, edit.input, edit.defaultTtl).host];
  if (!row) throw new NoSuchRecord();
  // said first: what is only shown need not be a record that the service could check
  assertEditable(row);
  if (edit.op !== 'update') return [row.host];
  return [...new Set([row.host, mergedRecord(definition, zone, row, edit.patch).host])];
}

/** A stored row as the record that the provider holds. */
const remote = (row: StoredRecord): RemoteRecord => ({
  ...plain(row),
  remoteId: row.remote_id ?? derivedId(row),
  readOnly: row.read_only,
});

const plain = (row: StoredRecord): DnsRecord => ({
  host: row.host,
  type: row.type,
  value: row.value,
  ttl: row.ttl,
  priority: row.priority,
  weight: row.weight,
  line: row.line,
  proxied: row.proxied,
  enabled: row.enabled,
});

/**
 * Checks one edit against the rights of who asks, the rules of DNS and the cached records of the names it touches (read under their locks).
 * An update must be allowed for the old and for the new state, and, where the TTL belongs to the set, for the neighbours whose TTL changes with it.
 * @throws AppError 400001, 403001, 409001; NoSuchRecord
 */
export function planEdit(
  edit: Edit,
  definition: ProviderDefinition,
  domain: OpenDomain,
  rows: readonly StoredRecord[],
): Plan {
  const { capabilities } = definition;
  const others = (host: string, id?: number) => rows.filter((r) => r.host === host && r.id !== id);
  // a TTL that was not given must not change that of the set which the record joins
  const join = (record: DnsRecord, at: StoredRecord[]) => {
    const sibling = at.find((o) => o.type === record.type && o.enabled);
    if (capabilities.granularity === 'rrset' && sibling) record.ttl = sibling.ttl;
  };
  const may = (action: Action, state: RecordState) => assertMay(domain.access, domain.id, action, state);
  const mayMoveTtl = (record: DnsRecord, at: StoredRecord[]) => {
    if (capabilities.granularity !== 'rrset') return;
    for (const sibling of at.filter((o) => o.type === record.type && o.enabled && o.ttl !== record.ttl)) {
      may('update', sibling);
      may('update', { ...sibling, ttl: record.ttl });
    }
  };
  if (edit.op === 'create') {
    const after = newRecord(definition, domain.name, edit.input, edit.defaultTtl);
    if ((edit.input.ttl ?? null) === null) join(after, others(after.host));
    may('create', after);
    mayMoveTtl(after, others(after.host));
    assertFits(after, others(after.host));
    return { change: { op: 'create', after }, before: null, after, remark: edit.input.remark ?? '' };
  }
  const before = rows.find((r) => r.id === edit.id);
  if (!before) throw new NoSuchRecord();
  may(edit.op === 'delete' ? 'delete' : 'update', before);
  assertEditable(before);
  const here = before.remote_id === null; // disabled where the provider cannot hold such
  if (edit.op === 'delete') {
    return {
      change: here ? null : { op: 'delete', before: remote(before) },
      before,
      after: null,
      remark: before.remark,
    };
  }
  if (edit.op === 'update') {
    const after = mergedRecord(definition, domain.name, before, edit.patch);
    const moves = after.host !== before.host || after.type !== before.type;
    if (moves && (edit.patch.ttl ?? null) === null) join(after, others(after.host, before.id));
    may('update', after);
    mayMoveTtl(after, others(after.host, before.id));
    assertFits(after, others(after.host, before.id));
    const change: Change | null = here ? null : { op: 'update', before: remote(before), after };
    return { change, before, after, remark: edit.patch.remark ?? before.remark };
  }
  const after = { ...plain(before), enabled: edit.enabled };
  const { remark } = before;
  if (edit.enabled) assertFits(after, others(after.host, before.id));
  if (before.enabled === edit.enabled) return { change: null, before, after, remark };
  if (capabilities.toggle && !here)
    return { change: { op: 'update', before: remote(before), after }, before, after, remark };
  const change: Change = edit.enabled ? { op: 'create', after } : { op: 'delete', before: remote(before) };
  return { change, before, after, remark };
}

/** What a plan makes of the row that it changes, as `RecordIntent.expected` keeps it: known in advance where ids are derived from the content. */
export function expectation(
  { change, before, after }: Plan,
  { capabilities }: ProviderDefinition,
): [number, string | null][] {
  if (!change || !before || !after) return [];
  if (change.op === 'delete') return [[before.id, null]];
  return capabilities.granularity === 'rrset' ? [[before.id, derivedId(after)]] : [];
}

/**
 * Brings the cache to what a plan says, in the transaction that also resolves the intent.
 * @param remoteId the provider's id of the record afterwards
 * @returns the row's id, null after a deletion
 */
export async function commitPlan(
  { db, cache }: { db: Db; cache: RecordCache },
  manager: EntityManager,
  domainId: number,
  plan: Plan,
  remoteId: string | null,
  setTtl: boolean,
  updatedAt: string,
): Promise<number | null> {
  const { before, after, remark } = plan;
  if (!after) {
    await cache.remove(manager, [before?.id ?? 0]);
    await count(db, manager, domainId, -1);
    return null;
  }
  const row = { ...after, remark, remote_id: remoteId, read_only: false };
  let id = before?.id;
  if (id !== undefined) await cache.update(manager, id, row);
  else {
    const inserted = await manager.insert(CachedRecord, { ...row, domain_id: domainId, updated_at: updatedAt });
    id = Number(inserted.identifiers[0]?.id);
    await count(db, manager, domainId, 1);
  }
  if (setTtl && remoteId !== null) await cache.alignTtl(manager, domainId, after.host, after.type, after.ttl);
  return id;
}

const count = (db: Db, manager: EntityManager, domainId: number, by: number) =>
  db.run('UPDATE domains SET records_count = records_count + ? WHERE id = ?', [by, domainId], manager);
