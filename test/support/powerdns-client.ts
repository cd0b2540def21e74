import assert from 'node:assert/strict';
import type { Said } from './doors.js';
import { say } from './doors.js';

/** What PowerDNS-Admin reads of each zone of a list: where one is missing it ends. */
export const LISTED_FIELDS = ['name', 'masters', 'kind', 'serial', 'notified_serial', 'last_check'].concat([
  'dnssec',
  'account',
  'catalog',
]);

/** A set as PowerDNS has it. */
export interface RawSet {
  name: string;
  type: string;
  ttl?: number;
  changetype?: string;
  records?: { content: string; disabled?: boolean }[] | null;
  comments?: { content: string; account?: string; modified_at?: number }[] | null;
  [more: string]: unknown;
}

/** A zone as PowerDNS has it. */
export interface RawPowerdnsZone {
  id: string;
  name: string;
  account: string;
  kind: string;
  serial: number;
  rrsets: Required<RawSet>[];
  [more: string]: unknown;
}

/** How a client of PowerDNS asks. @param root what `/api` stands behind @param headers beside the key */
export function powerdnsClient(root: string, key: string, headers: Record<string, string> = {}) {
  const api = `${root}/api/v1/servers/localhost`;
  const call = (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Said> =>
    say(path.startsWith('/api') ? root + path : api + path, method, { 'X-API-Key': key, ...headers, ...more }, body);
  const read = async <T>(path: string): Promise<T> => {
    const answer = await call('GET', path);
    assert.deepEqual([answer.status, answer.type], [200, 'application/json'], answer.text);
    return JSON.parse(answer.text) as T;
  };
  return {
    call,
    read,
    zone: (id: string) => read<RawPowerdnsZone>(`/zones/${id}`),
    /** @returns the set; undefined: there is none */
    set: async (id: string, name: string, type: string) =>
      (await read<RawPowerdnsZone>(`/zones/${id}`)).rrsets.find((set) => set.name === name && set.type === type),
    patch: (id: string, ...rrsets: RawSet[]) => call('PATCH', `/zones/${id}`, { rrsets }),
    /** A change that has to be taken. */
    patched: async (id: string, ...rrsets: RawSet[]) => {
      const answer = await call('PATCH', `/zones/${id}`, { rrsets });
      assert.deepEqual([answer.status, answer.text, answer.type], [204, '', ''], answer.text);
      return answer;
    },
  };
}
