import { fullName } from '../../dns/names.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { needed, type ProviderError, wordsIn } from '../kit/http/errors.js';
import { allPages, byId, nextLink } from '../kit/http/pages.js';
import { fromList, isFound } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import type { Written } from '../kit/records/record-verbs.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (Swagger 2026, samples of lego): names absolute without final dot, texts as they are. */
type ApiRecord = { id: string; hostname: string; type: string; value: string; ttl: number; managed?: boolean } & {
  [part in 'priority' | 'weight' | 'port' | 'flag' | 'tag']?: number | string | null;
};
const FIELDS = typedFields({ names: { target: 'value', flags: 'flag' } });

export const connect: Connect = ({ token }, context) => {
  const headers = { authorization: `Bearer ${token}` };
  const http = context.http.extend({ headers, errorMessage: wordsIn('message', 'errors') });
  // its description names no pages for these lists; where they come, a header leads to the next
  const list = <T extends { id: string }>(path: string): Promise<T[]> =>
    allPages(byId, async ({ page }) => {
      const query = page > 1 ? { page } : {};
      const { headers, body } = await http.exchange<T[] | undefined>('GET', path, { query });
      return { entries: body, next: nextLink(headers.link) === null ? null : page + 1 };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone)), zone.name, fromApi);
  const own = async (zone: RemoteZone) => (await records(zone)).filter(({ readOnly }) => !readOnly);
  const twinOf = async (zone: RemoteZone, record: DnsRecord) => (await own(zone)).find((r) => sameRecord(r, record));
  const write = {
    async createRecord(zone: RemoteZone, record: DnsRecord): Promise<Written> {
      const sent = http.post<ApiRecord | undefined>(pathOf(zone), { json: toApi(record, zone.name) });
      return sent.then(
        (made) => needed(made?.id, 'id'),
        async (error: ProviderError) => {
          // there was none before: what is there now is what was sent
          const made = error.mayHaveApplied ? await twinOf(zone, record).catch(() => undefined) : undefined;
          if (!made) throw error;
          return made;
        },
      );
    },
    // tried again, since its successor is there already
    deleteRecord: (zone: RemoteZone, record: RemoteRecord) => http.delete(pathOf(zone, record), { busy: [500] }),
    findRecords: own,
  };

  return {
    check: () => http.get('/dns_zones'),
    listZones: async () => (await list<RemoteZone>('/dns_zones')).map(({ id, name }) => zoneOf(name, id)),
    ...fromList(records, {
      ...write,
      // nobody says that a second one is refused
      doubles: true,
      isDuplicate: isFound,
      async updateRecord(zone, before, after) {
        // one that differs in its TTL alone may be taken for the old one
        const same = sameRecord(before, after);
        const twin = same ? undefined : await twinOf(zone, after);
        if (!twin) return inPlace(write, zone, before, after, same || undefined);
        await write.deleteRecord(zone, before);
        return twin;
      },
      readRecord: async (zone, before) =>
        fromApi(needed(await http.get<ApiRecord>(pathOf(zone, before)), 'record'), zone.name),
      // refused of MX (dnscontrol 2022); a SRV is like it
      judge: (record) => refuseRoot(record, 'Netlify'),
    }),
  };
};

const pathOf = recordPath('/dns_zones', 'dns_records');

/** What belongs to a site there is `managed`; the parts of a SRV may stand in its value (dnscontrol 2024). */
function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, hostname: name, type, ttl, priority, managed: readOnly = false } = record;
  const text = `${record.value}`;
  const parts = type === 'SRV' && record.port !== undefined && !/\s/.test(text);
  const srv = parts ? `${record.weight ?? 0} ${record.port ?? 0} ${text}` : text;
  const value = type === 'CAA' ? (FIELDS.rdata(type, { ...record, flag: record.flag ?? 0 }) ?? text) : srv;
  return plainRecord({ id, name, type, value, ttl, priority: priority ?? 0 }, zone, { readOnly });
}

const toApi = (record: DnsRecord, zone: string): object => ({
  ...{ hostname: fullName(record.host, zone), type: record.type, ttl: record.ttl },
  ...(FIELDS.of(record) ?? { value: record.value }),
});
