import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { following } from '../kit/http/deadline-context.js';
import { cutShort, errorHooks, neededList, ProviderError } from '../kit/http/errors.js';
import { basicAuth } from '../kit/http/http-client.js';
import { fromList } from '../kit/records/from-records.js';
import { apart } from '../kit/records/twins.js';
import { derivedId } from '../kit/rrsets/record-set.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { readEach } from '../kit/values/unreadable.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As listed (recorded 2019): names relative, or with a final dot; `combined` names it in writes; NS have no TTL. */
type Row = { type: string; name: string; value: string; combined?: string; ttl?: string };
type Held = { row: Row; record: RemoteRecord };

/** That of a record that shows none: what an edit without one made (recorded 2019). */
const TTL = 14400;
/** Errors, with a status of 500 (lego's tests) or of success (libdns). */
const errorOf = (body: unknown) => {
  const { error, result } = (body ?? {}) as { error?: string; result?: string };
  return typeof error === 'string' && error !== '' && { message: result ? `${error}: ${result}` : error };
};
const HOOKS = errorHooks(errorOf, { not_found: [/does not belong to you|no domain provided/i] });

export const connect: Connect = ({ endpoint, url = '', user, login_key }, context) => {
  const http = context.http.extend({
    ...HOOKS,
    // a no in its own words, where the status would mean that it cannot answer
    errorKind: (status, body) =>
      HOOKS.errorKind(status, body) ?? (status >= 500 && errorOf(body) ? 'rejected' : undefined),
    baseUrl: (endpoint || url).replace(/\/+$/, ''),
    headers: basicAuth(user, login_key),
  });
  const domains = async (): Promise<RemoteZone[]> => {
    const found = await http.get<string[] | undefined>('/CMD_API_SHOW_DOMAINS', { query: { json: 'yes' } });
    const names = neededList(found, 'domains');
    if (names.some((name) => typeof name !== 'string')) throw cutShort('names');
    return names.map((name) => zoneOf(name));
  };
  const held = async (zone: RemoteZone): Promise<Held[]> => {
    const query = { json: 'yes', domain: zone.id, full_mx_records: 'yes', ttl: 'yes' };
    const found = await http.get<{ records?: Row[] } | undefined>('/CMD_API_DNS_CONTROL', { query });
    const rows = neededList(found?.records, 'records');
    const all: Held[] = [];
    for (const row of rows) for (const record of await readEach([row], zone.name, fromApi)) all.push({ row, record });
    return all;
  };
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    apart((await held(zone)).map(({ row, record }) => ({ own: { ...row, name: '', combined: '' }, record })));
  const rowsOf = async (zone: RemoteZone, { remoteId }: RemoteRecord): Promise<Row[]> => {
    const rows = (await held(zone)).flatMap(({ row, record }) => (record.remoteId === remoteId ? [row] : []));
    if (!rows.length) throw new ProviderError('not_found', 'There is no such record at DirectAdmin any more', false);
    return rows;
  };
  /** Writes, and reads what came of it: a success is answered, too, where nothing was done (documentation). */
  const write = async (zone: RemoteZone, action: string, form: object, idempotent = false): Promise<RemoteRecord[]> => {
    const options = { query: { json: 'yes', domain: zone.id }, form: { action, ...form }, idempotent };
    await http.post('/CMD_API_DNS_CONTROL', options);
    return following(() => records(zone));
  };
  const made = (list: readonly RemoteRecord[], after: DnsRecord, before?: RemoteRecord): RemoteRecord => {
    const id = derivedId(after);
    const now = list.find(({ remoteId }) => remoteId === id);
    if (!now || list.some(({ remoteId }) => remoteId === before?.remoteId && remoteId !== id)) throw notDone();
    return now;
  };

  return {
    check: async () => void (await domains()),
    listZones: domains,
    ...fromList(records, {
      fixed: ['type'],
      async createRecord(zone, record) {
        // whether it makes a second line of what it holds is not known
        if ((await records(zone)).some(({ remoteId }) => remoteId === derivedId(record))) throw exists();
        return made(await write(zone, 'add', toApi(record, zone.name)), record);
      },
      async updateRecord(zone, before, after, changed) {
        const [row] = (await rowsOf(zone, before)) as [Row];
        const ttl = changed.has('ttl') ? after.ttl : Number(row.ttl || TTL);
        const form = { ...named([row]), ...toApi({ ...after, ttl }, zone.name) };
        return made(await write(zone, 'edit', form), after, before);
      },
      async deleteRecord(zone, before) {
        const list = await write(zone, 'select', { delete: 'yes', ...named(await rowsOf(zone, before)) }, true);
        if (list.some(({ remoteId }) => remoteId === before.remoteId)) throw notDone();
      },
    }),
  };
};

const exists = () => new ProviderError('rejected', 'DirectAdmin holds this record already', false);
const notDone = () =>
  new ProviderError('rejected', 'DirectAdmin says that it is done, but does not hold the record as wished', true);

/** The records that are meant, in the words of the list, or encoded once more, as other clients do. */
const named = (rows: readonly Row[]) =>
  Object.fromEntries(
    rows.map(({ type, name, value, combined }, i) => {
      const words = combined ?? `name=${encodeURIComponent(name)}&value=${encodeURIComponent(value)}`;
      return [`${type.toLowerCase()}recs${i}`, words];
    }),
  );

function fromApi({ type, name, value, ttl }: Row, zone: string): RemoteRecord | null {
  // an MX of which the name is the target: that of the zone itself, from servers that show no others
  const short = type === 'MX' && /^\d+$/.test(value);
  const owner = absoluteRdata('CNAME', short ? '@' : name || '@', zone);
  const text = type === 'TXT' && !value.startsWith('"') ? txtPresentation(value) : value;
  const rdata = absoluteRdata(type, short ? `${value} ${name}` : text, zone);
  const record = fromRdata(owner, type, rdata, Number(ttl || TTL), zone);
  return record && { ...record, remoteId: derivedId(record) };
}

/** Names with their final dot, texts in quotes; of an MX the target has a field of its own. */
function toApi(record: DnsRecord, zone: string) {
  const { host, type, ttl } = record;
  const rdata = rdataOf(record);
  const [priority, target] = type === 'MX' ? rdata.split(' ') : [];
  return { type, name: `${fullName(host, zone)}.`, value: priority ?? rdata, mx_value: target, ttl };
}
