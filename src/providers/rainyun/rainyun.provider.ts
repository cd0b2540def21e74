import { fullName, relativeName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { withinDeadline } from '../kit/http/deadline-context.js';
import { cutShort, errorHooks } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRecords } from '../kit/records/from-records.js';
import { inPlace, orGone } from '../kit/records/in-place.js';
import { failed } from '../kit/records/outcomes.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { readEach } from '../kit/values/unreadable.js';
import type { Connect, DnsProvider, Outcome, RemoteZone } from '../provider.js';

/** As sample answers of lego have it; the TTL is written in either way. */
type ApiRecord = { record_id: number; host: string; type: string; value: string; TTL?: number; ttl?: number } & {
  line?: string;
  level?: number | null;
};
type ApiZone = { id: number; domain: string };
type List<T> = { data?: { TotalRecords?: number; Records?: T[] | null } } | undefined;
type Failure = { code?: number; message?: string };

const NAMES = ['CNAME', 'NS', 'MX'];
const PAGE = 100;
/** No answer with an id of what was made has been seen. */
const UNKNOWN = 'not known yet';
const isUnknown = (outcome: Outcome) => outcome.ok && outcome.remoteId === UNKNOWN;

export const connect: Connect = ({ api_key = '' }, context) => {
  const http = context.http.extend({
    headers: { 'x-api-key': api_key },
    ...errorHooks(
      (body) => {
        const { code = 0, message = '' } = (body ?? {}) as Failure;
        return code === 0 || code === 200 ? [] : [{ code, message }];
      },
      // a wrong key, as lego met it
      { auth: [30039] },
    ),
  });
  const list = <T>(path: string, idOf: (entry: T) => number, paging: (page: number) => object): Promise<T[]> =>
    allPages(idOf, async ({ page }) => {
      const { TotalRecords: total = Number.NaN, Records } =
        (await http.get<List<T>>(path, { query: { ...paging(page) } }))?.data ?? {};
      return { entries: Records ?? (total === 0 ? [] : undefined), total };
    });
  const zonePage = (page: number) => ({
    options: JSON.stringify({ columnFilters: { 'domains.Domain': '' }, sort: [], page, perPage: PAGE }),
  });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const all = await list<ApiRecord>(
      pathOf(zone),
      (r) => r.record_id,
      (page_no) => ({ limit: PAGE, page_no }),
    );
    return readEach(all, zone.name, fromApi);
  };
  const look = async (zone: RemoteZone, { remoteId }: RemoteRecord) =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;

  const verbs: RecordVerbs = {
    async createRecord(zone, record) {
      await http.post(pathOf(zone), { json: toApi(record) });
      return UNKNOWN;
    },
    async updateRecord(zone, before, after, changed) {
      // whether these can be changed is not known
      if (['host', 'type', 'line'].some((field) => changed.has(field as keyof DnsRecord))) {
        return inPlace({ ...verbs, createRecord }, zone, before, after);
      }
      const json = { record_id: Number(before.remoteId), ...toApi(after) };
      await orGone(
        () => http.patch(pathOf(zone), { json, idempotent: true }),
        () => look(zone, before),
      );
      return before.remoteId;
    },
    deleteRecord: (zone, before) =>
      orGone(
        () => http.delete(pathOf(zone), { query: { record_id: before.remoteId } }),
        () => look(zone, before),
      ),
    ...{ readRecord: look, whole: true },
    findRecords: records,
    isDuplicate: (error) => !error.mayHaveApplied,
  };
  const createRecord = async (zone: RemoteZone, record: DnsRecord) => {
    await verbs.createRecord(zone, record);
    const id = idIn(await records(zone).catch(() => []), record);
    if (!id) throw notThere();
    return id;
  };
  const write = fromRecords(verbs);
  /** The ids of what a list makes are looked up together, in one reading of the zone. */
  const apply: DnsProvider['apply'] = async (zone, changes, options) => {
    const outcomes = await write(zone, changes, options);
    if (!outcomes.some(isUnknown)) return outcomes;
    const all = await withinDeadline(options?.deadline, () => records(zone)).catch(() => []);
    return outcomes.map((outcome, i) => {
      const change = changes[i];
      if (!isUnknown(outcome) || !change || change.op === 'delete') return outcome;
      const remoteId = idIn(all, change.after);
      return remoteId ? { ...outcome, remoteId } : failed(notThere());
    });
  };
  return {
    check: () => http.get('/domain', { query: zonePage(1) }),
    async listZones() {
      const zones = await list<ApiZone>('/domain', (zone) => zone.id, zonePage);
      return zones.map(({ id, domain }) => ({ id: String(id), name: toAscii(domain).replace(/\.$/, '') }));
    },
    listRecords: records,
    apply: serializePerZone(apply),
  };
};

const idIn = (all: readonly RemoteRecord[], record: DnsRecord) => all.find((r) => sameRecord(r, record))?.remoteId;
const notThere = () => cutShort('record that was made').applied(true);
const pathOf = (zone: RemoteZone): string => `/domain/${encodeURIComponent(zone.id)}/dns`;

function fromApi({ record_id, host, type, value, TTL, ttl = TTL ?? 600, line, level }: ApiRecord, zone: string) {
  // full names in lego's samples, relative ones in descriptions
  const name = relativeName(host, zone) === null ? fullName(host || '@', zone) : host;
  const target = NAMES.includes(type) ? value.replace(/\.?$/, '.') : value;
  const rdata = type === 'MX' ? `${level ?? 0} ${target}` : type === 'TXT' ? txtPresentation(value) : target;
  const read = fromRdata(name, type, rdata, ttl, zone);
  return read && { ...read, line: !line || line === 'DEFAULT' ? 'default' : line, remoteId: String(record_id) };
}

const toApi = ({ host, type, value, ttl, line, priority }: DnsRecord) => ({
  ...{ host, type, value, ttl, line: line === 'default' ? 'DEFAULT' : line },
  level: type === 'MX' ? (priority ?? 0) : undefined,
});
