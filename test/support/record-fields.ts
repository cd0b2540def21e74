import type { Fields, RecordRow } from '../../web/src/screens/zone/fields.js';

/** A record as the zone's table has it, with what a test changes of it. */
export const FIELDS: Fields = {
  host: 'www',
  type: 'A',
  value: '192.0.2.1',
  ttl: 300,
  priority: null,
  weight: null,
  line: 'default',
  proxied: false,
  enabled: true,
  remark: '',
  expires_at: null,
};
export const rowOf = (id: number, more: Partial<Fields> = {}) => ({ ...FIELDS, ...more, id }) as RecordRow;
