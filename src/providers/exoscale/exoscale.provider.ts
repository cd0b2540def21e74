import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { NotBegun, needed, neededList, ProviderError, wordsIn } from '../kit/http/errors.js';
import { pollUntilDone } from '../kit/http/poll-until-done.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { exoscaleSigner } from '../kit/signing/exoscale.js';
import { readEach } from '../kit/values/unreadable.js';
import { EMPTY, refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As API v2 has it (its OpenAPI description 2025): names relative, targets without final dot, texts kept as sent. */
type ApiRecord = { id: string; name: string; type: string; content?: string; ttl?: number } & {
  priority?: number | null;
  'system-record'?: boolean;
};
type Zones = { 'dns-domains'?: { id: string; 'unicode-name': string }[] } | undefined;
type Records = { 'dns-domain-records'?: ApiRecord[] } | undefined;
/** What a write answers: it is carried out by and by. */
type Operation = { id: string; state: string; reason?: string; message?: string; reference?: { id?: string } };

/** an odd number of quotes (dnscontrol 2022) */
const UNPAIRED = /^[^"]*"(?:[^"]*"[^"]*")*[^"]*$/;

export const connect: Connect = ({ api_key, api_secret }, context) => {
  const http = context.http.extend({ sign: exoscaleSigner(api_key, api_secret), errorMessage: wordsIn('message') });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach((await http.get<Records>(pathOf(zone)))?.['dns-domain-records'] as ApiRecord[], zone.name, fromApi);
  /** Waits for the end of a write. */
  async function carriedOut(asked: Promise<Operation | undefined>): Promise<Operation> {
    const begun = needed(await asked, 'operation');
    const look = async () =>
      needed(await http.get<Operation>(`/operation/${encodeURIComponent(begun.id)}`), 'operation');
    const { state, reason, message, ...done } = await pollUntilDone(begun, (job) => job.state === 'pending', look);
    if (state === 'success') return { state, ...done };
    const words = [`Exoscale: the operation ended as ${state}`, reason, message].filter(Boolean).join(': ');
    const kind = reason === 'not-found' ? 'not_found' : state === 'failure' ? 'rejected' : 'unavailable';
    throw new ProviderError(kind, words, true);
  }

  return {
    check: () => http.get('/dns-domain'),
    listZones: async () =>
      neededList((await http.get<Zones>('/dns-domain'))?.['dns-domains'], 'zones').map((zone) =>
        zoneOf(zone['unicode-name'], zone.id),
      ),
    ...fromList(records, {
      judge,
      ...{ fixed: ['type'], whole: true, doubles: 'TXT' },
      async createRecord(zone, record) {
        const done = await carriedOut(http.post(pathOf(zone), { json: { ...toApi(record), type: record.type } }));
        return done.reference?.id ?? '';
      },
      async updateRecord(zone, before, after) {
        await carriedOut(http.put(pathOf(zone, before), { json: toApi(after) }));
        return before.remoteId;
      },
      deleteRecord: (zone, before) => carriedOut(http.delete(pathOf(zone, before))),
      readRecord: async (zone, before) =>
        fromApi(needed(await http.get<ApiRecord>(pathOf(zone, before)), 'record'), zone.name),
    }),
  };
};

const pathOf = recordPath('/dns-domain', 'record');

function judge(record: DnsRecord): void {
  refuseText(record, 'Exoscale', { never: [EMPTY, [UNPAIRED, 'unpaired quotes']] });
  refuseRoot(record, 'Exoscale');
  const { host, type, value } = record;
  if (type === 'NS' && host === '@') throw new NotBegun('rejected', 'Exoscale keeps the NS records of a zone itself');
  if (type === 'CAA' && /\s/.test(value.replace(/^\S+ \S+ /, '')))
    throw new NotBegun('rejected', 'Exoscale takes no CAA value with blanks');
}

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, name: host, type, content = '', ttl = 3600, priority = 0 } = record;
  const value = type === 'TXT' ? txtFromInput(content) : content;
  // its own records, and the texts that go with an ALIAS (dnscontrol 2022)
  const isOwn = record['system-record'] || (type === 'NS' && !host) || /^"?ALIAS for /.test(content);
  return plainRecord({ id, host, type, value, ttl, priority }, zone, { readOnly: isOwn === true });
}

const toApi = ({ host, type, value, ttl, priority }: DnsRecord) => ({
  ...{ name: host === '@' ? '' : host, content: type === 'TXT' ? txtPresentation(value) : value, ttl },
  ...(priority !== null && { priority }),
});
