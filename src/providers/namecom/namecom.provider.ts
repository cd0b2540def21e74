import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { NotBegun, needed, wordsIn } from '../kit/http/errors.js';
import { basicAuth } from '../kit/http/http-client.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { recordPath, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (the vendor's own Go client): `host` relative, empty or absent at the apex; no final dots. */
type ApiRecord = { id: number; type: string; answer: string; ttl: number; host?: string; priority?: number };
type Domain = { domainName: string; expireDate?: string };
type ListAnswer<T> = { [key: string]: T[] | undefined } & { nextPage?: number };

export const connect: Connect = ({ username, token }, context) => {
  const http = context.http.extend({
    headers: basicAuth(username, token),
    errorMessage: wordsIn('message', 'details'),
  });
  /** The number of the next page is there only where there is one. A list that is missing is no empty list. */
  const list = <T>(path: string, key: string, idOf: (entry: T) => string | number) =>
    allPages<T>(idOf, async ({ next }) => {
      const answer = await http.get<ListAnswer<T> | undefined>(path, { query: { page: next ?? 1, perPage: 1000 } });
      return { entries: answer?.[key], next: answer?.nextPage || null };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 'records', (r) => r.id), zone.name, fromApi);
  const one = (record: ApiRecord | undefined, zone: RemoteZone): RemoteRecord =>
    needed(record?.id && record.type && fromApi(record, zone.name), 'record');

  return {
    check: async () => void (await http.get('/domains', { query: { perPage: 1 } })),
    listZones: async () =>
      (await list<Domain>('/domains', 'domains', (d) => d.domainName)).map((d) => zoneOf(d.domainName)),
    async zoneInfo({ id }) {
      const { expireDate } = (await http.get<Domain | undefined>(`/domains/${encodeURIComponent(id)}`)) ?? {};
      return zoneInfo({ expiresAt: expireDate ?? null });
    },
    ...fromList(records, {
      judge: toApi,
      fixed: ['type'],
      whole: true,
      createRecord: async (zone, record) => one(await http.post(pathOf(zone), { json: toApi(record) }), zone),
      updateRecord: async (zone, before, after) =>
        one(await http.put(pathOf(zone, before), { json: toApi(after) }), zone),
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
      readRecord: async (zone, before) => one(await http.get(pathOf(zone, before)), zone),
      // recorded 2020, with a status of 400
      isDuplicate: (error) => /Duplicate Record/i.test(error.message),
    }),
  };
};

const pathOf = recordPath('/domains', 'records');

function fromApi({ id, type, host, answer, ttl, priority = 0 }: ApiRecord, zone: string): RemoteRecord | null {
  // texts that were sent quoted come so (dnscontrol)
  const value = type === 'TXT' ? txtFromInput(answer) : answer;
  // those of the apex follow from the domain's name servers
  const readOnly = type === 'NS' && (!host || host === '@');
  return plainRecord({ id, host, type: type === 'ANAME' ? 'ALIAS' : type, value, ttl, priority }, zone, { readOnly });
}

function toApi(record: DnsRecord): object {
  // "Invalid Srv Format" (dnscontrol, tried again 2026)
  refuseRoot(record, 'Name.com');
  const { host, type, value, ttl, priority } = record;
  if (type === 'NS' && host === '@') throw new NotBegun('rejected', 'Name.com sets the NS of the apex by itself');
  const more = priority === null ? {} : { priority };
  const answer = type === 'TXT' ? textOf(value) : value;
  return { host: host === '@' ? '' : host, type: type === 'ALIAS' ? 'ANAME' : type, answer, ttl, ...more };
}

/** Raw, as recorded 2020; quoted what is long, has quotes, or blanks at its ends, up to 512 characters (dnscontrol). */
function textOf(value: string): string {
  if (value && Buffer.byteLength(value) <= 255 && !/["\\]|^\s|\s$/.test(value)) return value;
  const quoted = txtPresentation(value);
  if (value && quoted.length <= 512 && /^[\x20-\x5b\x5d-\x7e]*$/.test(value)) return quoted;
  const words =
    'that is empty, has backslashes, is longer than some 500 characters, or 255 bytes where it is not ASCII';
  throw new NotBegun('rejected', `Name.com takes no TXT value ${words}`);
}
