import type { RowValues } from '../../src/cache/reconcile.js';
import type { StoredRecord } from '../../src/cache/record-cache.js';
import type { RemoteRecord } from '../../src/dns/record.js';

/** A stored A record at www, `192.0.2.<id>`, with overrides. */
export const row = (id: number, more: Partial<StoredRecord> = {}): StoredRecord => ({
  id,
  domain_id: 7,
  remote_id: `r${id}`,
  host: 'www',
  type: 'A',
  value: `192.0.2.${id}`,
  ttl: 300,
  line: 'default',
  proxied: false,
  priority: null,
  weight: null,
  enabled: true,
  read_only: false,
  pending: false,
  remark: '',
  updated_at: '2026-01-01T00:00:00.000Z',
  created_at: '2026-01-01T00:00:00.000Z',
  ...more,
});

/** The provider's fields of an A record at www with its id `a`. */
export const rowValues = (value: string, more: Partial<RowValues> = {}): RowValues => ({
  remote_id: 'a',
  host: 'www',
  type: 'A',
  value,
  ttl: 600,
  line: 'default',
  proxied: false,
  priority: null,
  weight: null,
  enabled: true,
  read_only: false,
  read_only_reason: null,
  extra: null,
  ...more,
});

/** The same as listed by the provider. */
export const remote = (remoteId: string, value: string, more: Partial<RemoteRecord> = {}): RemoteRecord => {
  const { remote_id: _, read_only: readOnly, ...rest } = rowValues(value);
  return { ...rest, remoteId, readOnly, ...more };
};
