import { randomUUID } from 'node:crypto';
import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, NotBegun } from '../errors.js';
import { allPages } from '../pages.js';
import { inParts } from '../parts.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRecords, inPlace, orGone, type RecordVerbs } from '../records.js';
import { signBce } from '../signing/bce.js';

/** As the API has it (official model). */
type ApiRecord = { id: string; rr: string; type: string; value: string; ttl: number; line?: string; status: string } & {
  priority?: number | null;
  description?: string | null;
};
type Answer<T> = { [key: string]: T[] | undefined } & { isTruncated?: boolean; nextMarker?: string };
type Failure = { code?: string; message?: string };

const NAMES = ['CNAME', 'NS', 'MX', 'SRV'];
const token = () => ({ clientToken: randomUUID() });

export const connect: Connect = ({ access_key_id: accessKeyId = '', secret_access_key: key = '' }, context) => {
  const http = context.http.extend({
    sign: (request) => signBce(request, { accessKeyId, secretAccessKey: key }),
    ...errorHooks(
      (body) => {
        const { code, message = '' } = (body ?? {}) as Failure;
        return code ? [{ code, message }] : [];
      },
      // common error codes of Baidu Cloud; a wrong signature is HTTP 400
      {
        auth: [
          'AccessDenied',
          'InvalidAccessKeyId',
          'InvalidHTTPAuthHeader',
          'RequestExpired',
          'SignatureDoesNotMatch',
        ],
      },
    ),
  });
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
    (await list<ApiRecord>(pathOf(zone), 'records', (record) => record.id, query)).flatMap(
      (record) => fromApi(record, zone.name) ?? [],
    );
  const find = async (zone: RemoteZone, wanted: DnsRecord): Promise<RemoteRecord | undefined> =>
    (await records(zone, { rr: wanted.host })).find((record) => sameRecord(record, wanted)) ??
    (await records(zone)).find((record) => sameRecord(record, wanted));
  const look = async (zone: RemoteZone, { remoteId }: RemoteRecord) =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;

  const verbs: RecordVerbs = {
    ...inParts({
      async create(zone, record) {
        await http.post(pathOf(zone), { query: token(), json: toApi(record) });
        // the answer has no id (documented)
        const made = await find(zone, record).catch(() => undefined);
        if (!made) throw cutShort('record that was made').applied(true);
        return made.remoteId;
      },
      async update(zone, before, after, changed) {
        // an update takes no line (official model)
        if (changed.has('line')) return inPlace(verbs, zone, before, after).then(idOf);
        const json = toApi({ ...after, remark: after.remark ?? before.remark ?? '' });
        await orGone(
          () => http.put(pathOf(zone, before.remoteId), { query: token(), json }),
          () => look(zone, before),
        );
        return before.remoteId;
      },
      turn: (zone, id, enabled) =>
        http.put(pathOf(zone, id), { query: { [enabled ? 'enable' : 'disable']: '', ...token() } }),
    }),
    deleteRecord: (zone, before) =>
      orGone(
        () => http.delete(pathOf(zone, before.remoteId), { query: token() }),
        () => look(zone, before),
      ),
    readRecord: look,
    findRecords: (zone, { host: rr }) => records(zone, { rr }),
    isDuplicate: (error) => !error.mayHaveApplied,
  };
  return {
    check: () => http.get('/v1/dns/zone', { query: { maxKeys: 1 } }),
    async listZones() {
      const zones = await list<{ name: string }>('/v1/dns/zone', 'zones', (zone) => zone.name);
      return zones.map(({ name }) => toAscii(name).replace(/\.$/, '')).map((name) => ({ id: name, name }));
    },
    listRecords: (zone) => records(zone),
    apply: fromRecords(verbs),
  };
};

const idOf = (written: string | RemoteRecord): string => (typeof written === 'string' ? written : written.remoteId);
const pathOf = ({ id: zone }: RemoteZone, id?: string): string =>
  `/v1/dns/zone/${encodeURIComponent(zone)}/record${id ? `/${encodeURIComponent(id)}` : ''}`;

function fromApi(
  { id, rr, type, value, ttl, line = 'default', status, priority, description }: ApiRecord,
  zone: string,
) {
  const name = NAMES.includes(type) ? value.replace(/\.?$/, '.') : value;
  const rdata = type === 'MX' ? `${priority ?? 0} ${name}` : type === 'TXT' ? txtPresentation(value) : name;
  const read = fromRdata(fullName(rr, zone), type, rdata, ttl, zone);
  // another client knows "running", and takes all else for paused
  const more = { line, enabled: status === 'running', ...(description ? { remark: description } : {}) };
  return read && { ...read, ...more, remoteId: id };
}

function toApi({ host: rr, type, value, ttl, line, priority, remark: description }: DnsRecord) {
  // documented
  if (type === 'MX' && (priority ?? 0) > 50) throw new NotBegun('rejected', 'Baidu takes MX priorities of 0 to 50');
  const rdata = type === 'SRV' ? `${priority} ${value}` : value;
  return { rr, type, value: rdata, ttl, line, description, ...(type === 'MX' && { priority: priority ?? 0 }) };
}
