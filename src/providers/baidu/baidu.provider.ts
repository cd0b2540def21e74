import { randomUUID } from 'node:crypto';
import { toAscii } from '../../dns/names.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { errorHooks, errorIn, needed } from '../kit/http/errors.js';
import type { OutgoingRequest } from '../kit/http/http-client.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { signBce } from '../kit/signing/bce.js';
import { readEach } from '../kit/values/unreadable.js';
import { refusePriority } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official model). */
type ApiRecord = { id: string; rr: string; type: string; value: string; ttl: number; status: string } & More;
type More = { line?: string; priority?: number | null; description?: string | null };
type Answer<T> = { [key: string]: T[] | undefined } & { isTruncated?: boolean; nextMarker?: string };

// common error codes of Baidu Cloud; a wrong signature is HTTP 400
const KEYS = ['InvalidAccessKeyId', 'InvalidHTTPAuthHeader', 'SignatureDoesNotMatch'];
const KINDS = { auth: [...KEYS, 'AccessDenied', 'RequestExpired'] };
const token = () => ({ clientToken: randomUUID() });

export const connect: Connect = ({ access_key_id: accessKeyId = '', secret_access_key: key = '' }, context) => {
  const sign = (request: OutgoingRequest) => signBce(request, { accessKeyId, secretAccessKey: key });
  const http = context.http.extend({ sign, ...errorHooks(errorIn('code', 'message'), KINDS) });
  const list = <T>(path: string, field: string, idOf: (entry: T) => string, query = {}): Promise<T[]> =>
    allPages(idOf, async ({ next }) => {
      const marker = next ?? undefined;
      const answer = await http.get<Answer<T> | undefined>(path, { query: { maxKeys: 1000, marker, ...query } });
      const { isTruncated, nextMarker = '' } = answer ?? {};
      // what does not say whether there is more is cut
      const entries = typeof isTruncated === 'boolean' ? answer?.[field] : undefined;
      return { entries, next: isTruncated ? nextMarker : null };
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 'records', (record) => record.id, query), zone.name, fromApi);
  const find = async (zone: RemoteZone, wanted: DnsRecord): Promise<RemoteRecord | undefined> =>
    (await records(zone, { rr: wanted.host })).find((record) => sameRecord(record, wanted)) ??
    (await records(zone)).find((record) => sameRecord(record, wanted));

  return {
    check: () => http.get('/v1/dns/zone', { query: { maxKeys: 1 } }),
    async listZones() {
      const zones = await list<{ name: string }>('/v1/dns/zone', 'zones', (zone) => zone.name);
      return zones.map(({ name }) => zoneOf(toAscii(name).replace(/\.$/, '')));
    },
    ...fromList(records, {
      judge: (record) => refusePriority(record, 'Baidu'),
      // an update takes no line (official model)
      fixed: ['line'],
      async createRecord(zone, record) {
        await http.post(pathOf(zone), { query: token(), json: toApi(record) });
        // the answer has no id (documented)
        return needed((await find(zone, record).catch(() => undefined))?.remoteId, 'record that was made');
      },
      async updateRecord(zone, before, after) {
        const { line: _line, ...json } = toApi({ ...after, remark: after.remark ?? before.remark ?? '' });
        await http.put(pathOf(zone, before.remoteId), { query: token(), json });
        return before.remoteId;
      },
      turn: (zone, id, enabled) =>
        http.put(pathOf(zone, id), { query: { [enabled ? 'enable' : 'disable']: '', ...token() } }),
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before.remoteId), { query: token() }),
      ...{ vague: true, whole: true },
      findRecords: (zone, { host: rr }) => records(zone, { rr }),
    }),
  };
};

const pathOf = recordPath('/v1/dns/zone', 'record');

function fromApi({ rr: host, priority = 0, line = 'default', status, description, ...r }: ApiRecord, zone: string) {
  // another client knows "running", and takes all else for paused
  const own = { line, enabled: status === 'running', ...(description ? { remark: description } : {}) };
  return plainRecord({ ...r, host, priority }, zone, own);
}

function toApi({ host: rr, type, value, ttl, line, priority, remark: description }: DnsRecord) {
  const rdata = type === 'SRV' ? `${priority} ${value}` : value;
  return { rr, type, value: rdata, ttl, line, description, ...(type === 'MX' && { priority: priority ?? 0 }) };
}
