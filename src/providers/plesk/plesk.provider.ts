import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { listOf } from '../kit/http/body.js';
import { cutShort, errorHooks, needed, orNull, ProviderError, type VendorError } from '../kit/http/errors.js';
import { fromList } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { readEach } from '../kit/values/unreadable.js';
import { EMPTY, refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2018): names absolute with their final dot, texts raw, the priority of MX in `opt`. */
type ApiRecord = { type: string; host: string; value: string; opt?: string };
type Result = {
  status?: string;
  errcode?: string;
  errtext?: string;
  id?: string;
  data?: unknown;
  soa?: { ttl?: string };
};
type Operation = { [name: string]: { result?: Result | Result[] } | '' };
type Packet = { packet?: { system?: Result; [operator: string]: Operation | Result | undefined } };
type Site = { gen_info?: { name?: string; 'ascii-name'?: string } };

const KINDS = { auth: ['1001', '1006', '1010', '1011', '1012'], not_found: ['1013', '1015'] };

/** All results of a packet, whatever their operations. */
const resultsIn = (body: unknown): Result[] => {
  const { system, ...operators } = (body as Packet | undefined)?.packet || {};
  const operations = Object.values(operators).flatMap((one) => listOf(one as Operation));
  const results = operations.flatMap((one) => Object.values(one).flatMap((done) => (done ? listOf(done.result) : [])));
  return [...(system ? [system] : []), ...results];
};
const errorsOf = (body: unknown): VendorError[] =>
  resultsIn(body).flatMap(({ status, errcode = '', errtext = '' }) =>
    status === 'error' ? { code: errcode, message: errtext } : [],
  );

export const connect: Connect = ({ url = '', endpoint, secret_key, username = '', password = '' }, context) => {
  const who: Record<string, string> = secret_key
    ? { key: secret_key }
    : { http_auth_login: username, http_auth_passwd: password };
  const http = context.http.extend({
    ...{ baseUrl: (endpoint || url).replace(/\/+$/, ''), answers: 'xml' },
    headers: { ...who, 'content-type': 'text/xml' },
    ...errorHooks(errorsOf, KINDS),
  });
  /** The results of one operation. */
  async function call(operator: string, operation: string, params: object | '', reads = true): Promise<Result[]> {
    const xml = { packet: { [operator]: { [operation]: params } } };
    const answer = await http.post<Packet | undefined>('/enterprise/control/agent.php', { xml, reads });
    const done = (answer?.packet?.[operator] as Operation | undefined)?.[operation];
    if (done === undefined) throw cutShort(operation);
    return done ? listOf(done.result) : [];
  }
  const rows = async (filter: object) =>
    (await call('dns', 'get_rec', { filter })).filter(({ id, data }) => id || data);
  /** Records have no TTL of their own: that of the zone, whose settings prove as well that it is there. */
  async function ttlOf(zone: RemoteZone): Promise<number> {
    const [found] = await call('dns', 'get', { filter: { 'site-id': zone.id }, soa: '' });
    return Number(needed(found?.soa?.ttl, 'SOA'));
  }
  async function records(zone: RemoteZone, filter: object = { 'site-id': zone.id }): Promise<RemoteRecord[]> {
    const [found, ttl] = [await rows(filter), await ttlOf(zone)];
    return readEach(found, zone.name, ({ id = '', data }) =>
      fromApi(id, needed(data, 'record') as ApiRecord, ttl, zone.name),
    );
  }
  const verbs: RecordVerbs = {
    judge(record) {
      refuseRoot(record, 'Plesk');
      refuseText(record, 'Plesk', { never: [EMPTY, [/^\s|\s$/, 'blanks at its ends']] });
    },
    async createRecord(zone, record) {
      const ttl = await ttlOf(zone);
      const made = await call('dns', 'add_rec', { 'site-id': zone.id, ...toApi(record) }, false).catch(
        async (error) => {
          // an update goes on when the answer was lost, and the record is there
          const unclear = error instanceof ProviderError && error.mayHaveApplied;
          const twin = unclear && (await records(zone).catch(() => [])).find((r) => sameRecord(r, record));
          if (!twin) throw error;
          return [{ id: twin.remoteId }];
        },
      );
      return { ...record, ttl, remoteId: needed(made[0]?.id, 'id'), readOnly: false };
    },
    async updateRecord(zone, before, after, changed) {
      if (changed.size === 1 && changed.has('ttl')) throw new ProviderError('rejected', ONE_TTL, false);
      return inPlace(verbs, zone, before, after);
    },
    async deleteRecord(_zone, { remoteId }) {
      const once = () => call('dns', 'del_rec', { filter: { id: remoteId } }, false);
      await once().catch((error: unknown) => {
        // no id is given twice: once more does no harm, and an update is not left with both records
        if (!(error instanceof ProviderError) || !error.mayHaveApplied) throw error;
        return orNull(once());
      });
    },
    readRecord: async (zone, { remoteId }) => (await records(zone, { id: remoteId }))[0] ?? null,
    vague: true,
  };

  return {
    check: async () => void (await call('site', 'get', { filter: '', dataset: { gen_info: '' } })),
    listZones: async () =>
      (await call('site', 'get', { filter: '', dataset: { gen_info: '' } })).flatMap(({ id, data }) => {
        const { name, 'ascii-name': ascii } = (data as Site | undefined)?.gen_info ?? {};
        return id ? zoneOf(needed(ascii || name, 'name of a site'), id) : [];
      }),
    ...fromList(records, verbs),
  };
};

const ONE_TTL = 'Plesk has one TTL for all records of a zone, which is changed there';

function fromApi(id: string, { type, host, value, opt }: ApiRecord, ttl: number, zone: string): RemoteRecord | null {
  const rdata = type === 'TXT' ? txtPresentation(value) : type === 'MX' ? `${opt || 0} ${value}` : value;
  const read = fromRdata(host, type, rdata, ttl, zone);
  return read && { ...read, remoteId: id };
}

const toApi = (record: DnsRecord) => {
  const { host, type, value, priority } = record;
  const target = type === 'TXT' ? value : rdataOf(record).replace(/^\d+ /, '');
  return { type, host: host === '@' ? '' : host, value: target, opt: type === 'MX' ? `${priority ?? 0}` : '' };
};
