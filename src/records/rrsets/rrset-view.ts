import type { StoredRecord } from '../../cache/record-cache.js';
import { hostName } from '../../dns/names.js';
import { shownValue } from '../../dns/record.js';
import { judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { errors, fieldError } from '../../platform/common/errors.js';
import { assertConditions, type Conditions, entityTag } from '../../platform/http/conditions.js';
import { served } from '../served.js';
import type { ReplacedMember, RrsetInput, RrsetView } from './rrset.dto.js';

/** One set of a zone: all records of a name, a type and a line. */
export interface Key {
  host: string;
  type: string;
  line: string;
}

/** What the path and the query of a request name. */
export interface Address {
  host: string;
  type: string;
  line: string | undefined;
}

/** @throws AppError 400001 where a body names another set than its address does */
export function assertAddressed({ name }: OpenDomain, address: Address, body: RrsetInput): void {
  const isOther = (given: string | null | undefined, of: (text: string) => string, own: string | undefined) =>
    (given ?? null) !== null && own !== undefined && of(given as string) !== of(own);
  const differs = {
    host: isOther(body.host, (host) => hostName(host, name), address.host),
    type: isOther(body.type, (type) => type.toUpperCase(), address.type),
    line: isOther(body.line, (line) => line || 'default', address.line),
  };
  const wrong = Object.entries(differs).filter(([, one]) => one);
  if (!wrong.length) return;
  throw errors.validation(wrong.map(([path]) => fieldError(path, 'is not that of the address', 'conflict')));
}

/** @throws AppError 400001 for what no name of the zone can be */
export function keyOf({ name }: OpenDomain, host: string, type: string, line = 'default'): Key {
  return { host: hostName(host, name), type: type.toUpperCase(), line: line || 'default' };
}

/** The records of a set, of those of its name. */
export const membersOf = (rows: readonly StoredRecord[], { host, type, line }: Key): StoredRecord[] =>
  rows.filter((row) => row.host === host && row.type === type && row.line === line);

/** What no client can name. */
const UNSEEN = '\0';

/** A set as its reader may see it; null: nothing of it. */
export function viewOf(
  { provider, access, id }: OpenDomain,
  key: Key,
  rows: readonly StoredRecord[],
): RrsetView | null {
  const members = membersOf(served(provider, rows), key);
  const seen = members.filter((row) => judgeRecord(access, id, 'read', row).allowed);
  if (!seen.length) return null;
  const values = seen.toSorted((a, b) => a.id - b.id).map((row) => ({ id: row.id, ...fieldsOf(row) }));
  return { ...key, ttl: Math.min(...seen.map(({ ttl }) => ttl)), values };
}

export const fieldsOf = (row: StoredRecord): Omit<ReplacedMember, 'ttl'> => {
  const { priority, weight, enabled } = row;
  return { value: shownValue(row, row.read_only), priority, weight, enabled };
};

/**
 * @param tells whether the caller may read records at all
 * @throws AppError 412001 where the set is not what the caller has seen
 */
export function assertSeen(
  conditions: Conditions,
  domain: OpenDomain,
  key: Key,
  rows: readonly StoredRecord[],
  tells: boolean,
): void {
  const view = viewOf(domain, key, rows);
  const isThere = membersOf(served(domain.provider, rows), key).length > 0;
  // without ids: what was made past the service has none yet
  const found = tells && view && { rrset: { ...view, values: view.values.map(({ id: _, ...fields }) => fields) } };
  // one of which the caller sees nothing is there all the same
  assertConditions(conditions, view ? entityTag(view) : isThere ? UNSEEN : null, found || undefined);
}
