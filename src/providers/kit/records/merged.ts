import type { DnsRecord, RemoteRecord } from '../../../dns/record.js';
import type { Change, RemoteZone } from '../../provider.js';
import { reading } from '../http/deadline-context.js';
import { ProviderError } from '../http/errors.js';
import { type Difference, difference, type RecordVerbs } from './record-verbs.js';

export function changedThere(found: RemoteRecord | null): ProviderError {
  const error = new ProviderError('changed', 'The record was changed at the provider since it was read', false);
  error.found = found;
  return error;
}

/** A record of another type has the value that was asked for, however it differs from the old one. */
const namedBy = (fields: Difference): Difference =>
  fields.has('type') ? new Set([...fields, 'value', 'priority'] as const) : fields;

/** What was asked for, with the fields that nobody named as the provider holds them. @throws ProviderError */
function merge(held: RemoteRecord, { before, after }: Change & { op: 'update' }, fields: Difference): DnsRecord {
  // a value of one type is none of another
  if (held.readOnly !== before.readOnly || (held.type !== before.type && fields.has('value'))) throw changedThere(held);
  const { remoteId: _id, readOnly: _readOnly, readOnlyReason: _reason, ...theirs } = held;
  return { ...theirs, ...Object.fromEntries([...namedBy(fields)].map((field) => [field, after[field]])) };
}

/**
 * What an update shall write at a vendor whose updates replace the whole record: it is read first, unless all that
 * changes is written by calls of its own. @throws ProviderError
 */
export async function merged(
  verbs: RecordVerbs,
  zone: RemoteZone,
  change: Change & { op: 'update' },
  fields: Difference,
): Promise<Change & { op: 'update' }> {
  const { apart = [], turn, note } = verbs;
  const isApart = (field: keyof DnsRecord) =>
    (field === 'enabled' && turn) || (field === 'remark' && note) || (fields.size === 1 && apart.includes(field));
  if (!verbs.whole || [...fields].every(isApart)) return change;
  const held = (await reading(async () => verbs.readRecord?.(zone, change.before))) ?? null;
  if (!held) throw new ProviderError('not_found', 'There is no such record at the provider any more', false);
  return { ...change, before: held, after: merge(held, change, fields) };
}

/** The same of several that go in one call: more than a few are found in one list of the zone. @throws ProviderError */
export async function mergedAll(
  verbs: RecordVerbs,
  zone: RemoteZone,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const { listAll } = verbs;
  const many = listAll && changes.filter(({ op }) => op === 'update').length > 3;
  const all = verbs.whole && many ? new Map((await reading(() => listAll(zone))).map((r) => [r.remoteId, r])) : null;
  const from = all
    ? { ...verbs, readRecord: async (_: RemoteZone, r: RemoteRecord) => all.get(r.remoteId) ?? null }
    : verbs;
  const list: Change[] = [];
  for (const change of changes) {
    const is = change.op === 'update';
    list.push(is ? await merged(from, zone, change, difference(change.before, change.after)) : change);
  }
  return list;
}
