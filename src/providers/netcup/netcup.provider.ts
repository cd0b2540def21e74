import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, ProviderError } from '../kit/http/errors.js';
import type { CallOptions } from '../kit/http/http-client.js';
import { cachedToken } from '../kit/http/token-cache.js';
import { fromRecords } from '../kit/records/from-records.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { type Change, type Connect, listed, type RemoteZone } from '../provider.js';

/** A record (recorded 2019): all values are texts, `@` is the zone, also as a target; names have no final dot. */
type ApiRecord = { id: string; hostname: string; type: string; priority?: string; destination: string } & {
  /** in newer answers */
  ttl?: number | string;
};
type Records = { dnsrecords?: ApiRecord[] };
type Answer = { action?: string; status?: string; statuscode?: number; shortmessage?: string; longmessage?: string } & {
  responsedata?: unknown;
};
type Body = { action: string; param: Record<string, unknown> };

/** of `infoDnsRecords`: a zone without records */
const NO_RECORDS = 5029;
const NO_ZONE = 5031;
const NAMES = /^(CNAME|MX|NS|PTR|ALIAS)$/;
/** A session ends after 15 minutes without a call. */
const SESSION_SECONDS = 600;

export const connect: Connect = (credentials, context) => {
  const { customer_number: customernumber, api_key: apikey, api_password: apipassword } = credentials;
  const failed = (body: unknown) => {
    const { status, statuscode, action } = (body ?? {}) as Answer;
    return status !== 'success' && !(statuscode === NO_RECORDS && action === 'infoDnsRecords');
  };
  const errorMessage = (body: unknown) => {
    const { shortmessage, longmessage, statuscode } = (body ?? {}) as Answer;
    return shortmessage ? `${shortmessage}: ${longmessage} (code ${statuscode})` : undefined;
  };
  const errorKind = (status: number, body: unknown) => {
    const { action, statuscode, status: word, longmessage = '' } = (body ?? {}) as Answer;
    if (/requests per minute/i.test(longmessage)) return 'rate_limit';
    if (statuscode === NO_ZONE) return 'not_found';
    if (word && (action === 'login' || /session|api ?key/i.test(longmessage))) return 'auth';
    return !word && status < 300 ? 'unavailable' : undefined;
  };
  const open = context.http.extend({ failed, errorMessage, errorKind });
  const session = cachedToken(async () => {
    const json = { action: 'login', param: { customernumber, apikey, apipassword } };
    const id = (await open.post<{ responsedata?: { apisessionid?: string } }>('', { json, reads: true })).responsedata;
    if (!id?.apisessionid) throw cutShort('session');
    return { token: id.apisessionid, seconds: SESSION_SECONDS };
  });
  const http = open.extend({
    async beforeRequest(request) {
      const { action, param } = JSON.parse(request.body ?? '{}') as Body;
      const own = { customernumber, apikey, apisessionid: await session.get() };
      return { ...request, body: JSON.stringify({ action, param: { ...param, ...own } }) };
    },
  });
  async function call<T>(action: string, param: object, reads = true): Promise<T> {
    const options: CallOptions = { json: { action, param }, reads };
    const answer = await http.post<Answer>('', options).catch((error: unknown) => {
      // one that has ended refuses, and does nothing: once more with another
      if (!(error instanceof ProviderError) || error.kind !== 'auth' || !/session/i.test(error.message)) throw error;
      session.forget();
      return http.post<Answer>('', options);
    });
    return answer.responsedata as T;
  }
  const info = (domainname: string) => call<{ name?: string; ttl?: string }>('infoDnsZone', { domainname });
  /** The records in a list, with the TTL that is that of the zone. */
  async function known(zone: RemoteZone, list: ApiRecord[] | undefined): Promise<RemoteRecord[]> {
    if (!Array.isArray(list)) throw cutShort('records');
    const ttl = list.every((r) => r.ttl) ? 0 : Number((await info(zone.id)).ttl);
    return readEach(list, zone.name, (r) => fromApi(r, zone.name, Number(r.ttl ?? ttl)));
  }
  async function records(zone: RemoteZone): Promise<RemoteRecord[]> {
    const answer = await call<Records | ''>('infoDnsRecords', { domainname: zone.id });
    return known(zone, answer ? answer.dnsrecords : []);
  }

  /** The changes in one call, which answers all records of the zone: each is looked up in it. */
  async function batch(zone: RemoteZone, changes: readonly Change[]): Promise<(RemoteRecord | null)[]> {
    for (const c of changes)
      if (c.op !== 'delete') refuseText(c.after, 'netcup', { never: [[/^$/, 'no text at all']] });
    const before = await records(zone);
    const dnsrecords = changes.flatMap((change) => toSend(change, before));
    if (!dnsrecords.length) return changes.map((c) => (c.op === 'create' ? twin(before, c.after) : null));
    const param = { domainname: zone.id, dnsrecordset: { dnsrecords } };
    const answer = await call<Records>('updateDnsRecords', param, false);
    const now = await known(zone, answer.dnsrecords);
    const stays = changes.find((c) => c.op === 'delete' && now.some((r) => r.remoteId === c.before.remoteId));
    if (stays) throw new ProviderError('rejected', 'netcup took the change, but the record is still there', true);
    return changes.map((c) => (c.op === 'delete' ? null : twin(now, c.after)));
  }
  const one = async (zone: RemoteZone, change: Change) => (await batch(zone, [change]))[0] as RemoteRecord;

  return {
    check: async () => {
      session.forget();
      await session.get();
    },
    async listZones() {
      const names = listed(credentials.domains);
      if (names.length) return Promise.all(names.map(async (name) => remoteZone((await info(toAscii(name))).name)));
      const all = await call<{ domainname?: string }[]>('listallDomains', {});
      if (!Array.isArray(all)) throw cutShort('domains');
      return all.map(({ domainname }) => remoteZone(domainname));
    },
    findZone: (name) =>
      info(name).then(
        (found) => remoteZone(found.name),
        (error) => {
          if (error instanceof ProviderError && error.kind === 'not_found') return null;
          throw error;
        },
      ),
    listRecords: records,
    apply: fromRecords({
      createRecord: (zone, after) => one(zone, { op: 'create', after }),
      updateRecord: (zone, before, after) => one(zone, { op: 'update', before, after }),
      deleteRecord: (zone, before) => one(zone, { op: 'delete', before }),
      readRecord: async (zone, { remoteId }) => (await records(zone)).find((r) => r.remoteId === remoteId) ?? null,
      ...{ batch, whole: true },
    }),
  };
};

function remoteZone(name: string | undefined): RemoteZone {
  if (!name) throw cutShort('domain');
  return { id: name, name: toAscii(name) };
}

/** What is sent for a change, by the records of the zone: nothing where it is so already. */
function toSend(change: Change, before: readonly RemoteRecord[]): object[] {
  const old = change.op === 'create' ? undefined : before.find((r) => r.remoteId === change.before.remoteId);
  if (change.op === 'update' && !old) throw new ProviderError('not_found', 'The zone has no such record', false);
  const goes = old ? [{ ...toApi(old), id: old.remoteId, deleterecord: true }] : [];
  if (change.op === 'delete') return goes;
  if (change.op === 'create' && before.some((r) => sameRecord(r, change.after))) return [];
  const wanted = toApi(change.after);
  return old?.type === change.after.type ? [{ ...wanted, id: old.remoteId }] : [...goes, wanted];
}

function twin(list: readonly RemoteRecord[], record: DnsRecord): RemoteRecord {
  const found = list.find((r) => sameRecord(r, record));
  const words = `netcup took the change, but does not hold ${record.type} ${record.host} as it was sent`;
  if (!found) throw new ProviderError('rejected', words, true);
  return found;
}

function fromApi({ id, hostname, type, priority, destination }: ApiRecord, zone: string, ttl: number) {
  const target = NAMES.test(type) && destination === '@' ? zone : destination;
  // a SRV is all in its destination (dnscontrol), or all but its priority
  const split = type === 'MX' || (type === 'SRV' && target.split(' ').length === 3);
  const rdata = type === 'TXT' ? txtPresentation(target) : split ? `${priority ?? 0} ${target}` : target;
  const read = fromRdata(fullName(hostname, zone), type, rdata, ttl, zone);
  return read && { ...read, remoteId: id };
}

function toApi(record: DnsRecord) {
  const { host: hostname, type, value, priority } = record;
  const destination = /^(SRV|CAA)$/.test(type) ? rdataOf(record) : value;
  return { hostname, type, priority: String(type === 'MX' ? (priority ?? 0) : 0), destination, deleterecord: false };
}
