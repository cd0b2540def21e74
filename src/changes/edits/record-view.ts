import type { StoredRecord } from '../../cache/record-cache.js';
import { toUnicode } from '../../dns/names.js';
import { shownValue } from '../../dns/record.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { sha256 } from '../../platform/common/hash.js';
import type { RecordView } from './record.dto.js';

/** A record as the API shows it. It was last seen at the provider at the domain's last sync, or when it was written. */
export const recordView = (row: StoredRecord, domain: Pick<DomainRow, 'synced_at'>): RecordView => ({
  id: row.id,
  host: row.host,
  type: row.type,
  value: shownValue(row, row.read_only),
  ttl: row.ttl,
  line: row.line,
  proxied: row.proxied,
  priority: row.priority,
  weight: row.weight,
  enabled: row.enabled,
  remark: row.remark,
  read_only: row.read_only,
  pending: row.pending,
  unicode_host: toUnicode(row.host),
  synced_at: domain.synced_at && domain.synced_at > row.updated_at ? domain.synced_at : row.updated_at,
  updated_at: row.updated_at,
  created_at: row.created_at ?? row.updated_at,
});

/** The entity tag of a record's answer: what a client may have seen of its state, without the times. */
export const recordTag = (record: RecordView): string => {
  const { host, type, value, ttl, line, proxied, priority, weight, enabled, remark } = record;
  const state = [host, type, value, ttl, line, proxied, priority, weight, enabled, remark];
  return `"${sha256(JSON.stringify(state)).slice(0, 32)}"`;
};
