import { absolute, fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { idText, needed, wordsIn } from '../kit/http/errors.js';
import { basicAuth } from '../kit/http/http-client.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2018): names and targets absolute with final dot, TXT the text itself. */
type ApiRecord = { id: number; name: string; type: string; content: string; ttl: number; generated?: boolean };
type ApiZone = { id: number; name: string };

const PER_PAGE = 500;

export const connect: Connect = ({ email, api_key }, context) => {
  const http = context.http.extend({
    headers: basicAuth(email, api_key),
    errorMessage: wordsIn('message'),
  });
  const list = <T extends { id: number }>(path: string) =>
    allPages<T>(
      byId,
      async ({ page }) => {
        const { body, headers } = await http.exchange<T[]>('GET', path, { query: { limit: PER_PAGE, page } });
        const total = headers['x-total-count'];
        // the length is documented (2025), but in no answer that was recorded (2018)
        return { entries: body, ...(total === undefined ? {} : { total: Number(total) }) };
      },
      PER_PAGE,
    );
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone)), zone.name, fromApi);
  const one = (answer: ApiRecord | undefined, zone: RemoteZone): RemoteRecord =>
    needed(answer?.id && fromApi(answer, zone.name), 'record');
  const verbs: RecordVerbs = {
    whole: true,
    // only names, values and TTLs were seen to change
    fixed: ['type'],
    createRecord: async (zone, record) =>
      one(await http.post<ApiRecord>(pathOf(zone), { json: toApi(record, zone.name) }), zone),
    updateRecord: async (zone, before, after) =>
      one(await http.put<ApiRecord>(pathOf(zone, before), { json: toApi(after, zone.name) }), zone),
    deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
    readRecord: async (zone, before) => one(await http.get<ApiRecord>(pathOf(zone, before)), zone),
  };

  return {
    check: async () => void (await http.get('/zones', { query: { limit: 1 } })),
    listZones: async () => (await list<ApiZone>('/zones')).map(({ id, name }) => zoneOf(name, id)),
    ...fromList(records, verbs),
  };
};

const pathOf = recordPath('/zones', 'records');

function fromApi({ id, name, type, content, ttl, generated }: ApiRecord, zone: string): RemoteRecord | null {
  const read = fromRdata(name, type, type === 'TXT' ? txtPresentation(content) : content, ttl, zone);
  // what LuaDNS has generated from another record goes with that
  return read && { ...read, remoteId: idText(id), readOnly: read.readOnly || generated === true };
}

function toApi(record: DnsRecord, zone: string): object {
  const { host, type, ttl } = record;
  refuseText(record, 'LuaDNS', { never: [[/^$/, 'no characters']] }); // dnscontrol, verified 2023
  const content = type === 'TXT' ? record.value : rdataOf(record);
  return { name: absolute(fullName(host, zone)), type, content, ttl };
}
