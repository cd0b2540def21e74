import { fullName } from '../../dns/names.js';
import { fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { ProviderError } from '../errors.js';
import { derivedId, type RecordSet } from '../rrset.js';

/** A record set as the API has it (OpenAPI, `RRSet`); names absolute with final dot. */
export interface ApiSet {
  name: string;
  type: string;
  /** seconds, of the whole set */
  ttl: number;
  /** `content` is rdata in presentation form */
  records: { content: string; disabled?: boolean }[];
}

/** A zone as the API has it (OpenAPI, `Zone`). */
export interface ApiZone {
  id: string;
  name: string;
  rrsets?: ApiSet[];
}

/** A host as the API names it: absolute, with final dot. */
export const apiName = (host: string, zone: string): string => `${fullName(host, zone)}.`;

/** The record sets of an answer. @throws ProviderError `unavailable` when it holds no list of well-formed sets */
export function setsOf(zone: ApiZone | undefined): ApiSet[] {
  const sets = zone?.rrsets;
  if (!Array.isArray(sets) || !sets.every(isSet)) {
    throw new ProviderError('unavailable', 'The answer of PowerDNS is cut short: it has no record sets');
  }
  return sets;
}

const isSet = (set: ApiSet | null): boolean =>
  typeof set?.name === 'string' &&
  typeof set.type === 'string' &&
  Number.isInteger(set.ttl) &&
  Array.isArray(set.records) &&
  set.records.every((record) => typeof record?.content === 'string');

/** The records of a set with their own texts; those outside the zone or managed by the server are left out. */
export function recordsOf(set: ApiSet, zone: string): { record: RemoteRecord; rdata: string }[] {
  const out = new Map<string, { record: RemoteRecord; rdata: string }>();
  for (const { content, disabled } of set.records) {
    const read = fromRdata(set.name, set.type, content, set.ttl, zone);
    if (!read) continue;
    const record = { ...read, enabled: !disabled };
    const remoteId = derivedId(record);
    // texts that mean the same (TXT split differently, names in another case) are one record; the one that is live
    // counts
    if (out.has(remoteId) && !record.enabled) continue;
    // 4.7 answers IPv4-mapped addresses in a form that it refuses to take back
    const rdata = set.type === 'AAAA' && !record.readOnly ? rdataOf(record) : content;
    out.set(remoteId, { record: { ...record, remoteId }, rdata });
  }
  return [...out.values()];
}

/** What PATCH needs to make a set as it shall be. Without `comments`, which keeps those of the set (OpenAPI). */
export function apiChange(set: RecordSet, zone: string) {
  const { type, ttl, members } = set;
  const name = apiName(set.host, zone);
  if (members.length === 0) return { name, type, changetype: 'DELETE' };
  const records = members.map((m) => ({ content: m.rdata, disabled: !m.enabled }));
  return { name, type, ttl, changetype: 'REPLACE', records };
}
