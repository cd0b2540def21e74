import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, needed, neededList, ProviderError } from '../kit/http/errors.js';
import { allPages, counted } from '../kit/http/pages.js';
import { pollUntilDone } from '../kit/http/poll-until-done.js';
import { fromRecords } from '../kit/records/from-records.js';
import { changedPart, difference } from '../kit/records/record-verbs.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Change, Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2019 and 2026): names absolute, none with its final dot, texts quoted. */
type ApiRecord = { id: string; name: string; type: string; content: string; ttl: number; priority?: number | null };
/** `blocked`: a write is under way; `restorable`: deleted, and served no more. */
type ApiZone = { id: string; name: string; type?: string; status?: string };
type Failure = { code: number; text: string; value?: string };
type Answer<T> = { status?: string; errors?: Failure[]; response?: T } | null | undefined;
type Page<T> = { data?: T[]; totalEntries?: number };
type Filter = { field: string; value: string };

/** of which fields those of the API follow */
const SOURCES = { name: ['host'], type: ['type'], ttl: ['ttl'], priority: ['priority'], content: ['value'] } as const;
/** A zone takes one write at a time, and is at it for one to three seconds (recorded). */
const BLOCKED = 10205;

export const connect: Connect = ({ auth_token: authToken }, context) => {
  const http = context.http.extend(
    errorHooks(
      (body) => {
        const { status, errors } = (body ?? {}) as NonNullable<Answer<unknown>>;
        const words = ({ text, value }: Failure) => [text, value].filter(Boolean).join(': ');
        return status === 'error' && errors?.map((one) => ({ code: one.code, message: words(one) }));
      },
      // other codes are not documented: by their words
      {
        rate_limit: [BLOCKED],
        auth: [/auth ?token|api.?key|permission|authori[sz]/i],
        not_found: [/not found|not exist/i],
      },
    ),
  );
  const call = async <T>(method: string, params: object, reads = true): Promise<T | undefined> =>
    (await http.post<Answer<T>>(`/${method}`, { json: { authToken, ...params }, reads }))?.response;
  const list = <T extends { id: string }>(method: string, filter?: object): Promise<T[]> =>
    allPages(
      ({ id }) => id,
      async ({ page }) => {
        const answer = await call<Page<T>>(method, { ...(filter && { filter }), limit: 500, page });
        return counted(answer?.data, answer?.totalEntries);
      },
    );
  const config = async ({ id }: RemoteZone): Promise<ApiZone> => {
    const [zone] = await list<ApiZone>('zoneConfigsFind', { field: 'ZoneConfigId', value: id });
    if (!zone) throw new ProviderError('not_found', 'hosting.de has no such zone', false);
    return zone;
  };
  const zones = async (filter?: Filter): Promise<RemoteZone[]> =>
    (await list<ApiZone>('zoneConfigsFind', filter)).flatMap(({ id, name, type, status }) =>
      type === 'SLAVE' || status === 'restorable' ? [] : zoneOf(name, id),
    );
  async function rows(zone: RemoteZone, more: Filter[] = []): Promise<ApiRecord[]> {
    const subFilter = [{ field: 'ZoneConfigId', value: zone.id }, ...more];
    const found = await list<ApiRecord>('recordsFind', { subFilterConnective: 'AND', subFilter });
    // a zone has its SOA at least, and one that is not there no records
    if (!found.length && !more.length) await config(zone);
    return found;
  }
  const records = async (zone: RemoteZone, more?: Filter[]): Promise<RemoteRecord[]> =>
    readEach(await rows(zone, more), zone.name, fromApi);

  /** The changes in one call, which answers all records of the zone: each is looked up in it. */
  async function write(zone: RemoteZone, changes: readonly [Change, ...Change[]]): Promise<(RemoteRecord | null)[]> {
    const [first, second] = changes;
    const before = await rows(zone, second ? [] : first.op === 'create' ? at(first.after, zone) : byId(first.before));
    const sent = Object.entries(await planned(changes, before, zone.name)).filter(([, some]) => some.length);
    const left = sent.length ? await send(zone, Object.fromEntries(sent)) : before;
    const now = await readEach(left, zone.name, fromApi);
    return changes.map((change) => {
      if (change.op === 'delete') return null;
      const own = change.op === 'update' && now.find((r) => r.remoteId === change.before.remoteId);
      const found = own || now.find((r) => sameRecord(r, change.after));
      if (!found) throw cutShort('record that was written').applied(true);
      return found;
    });
  }
  async function send(zone: RemoteZone, body: object): Promise<readonly ApiRecord[]> {
    const json = { zoneConfigId: zone.id, ...body };
    const answer = await call<{ records?: ApiRecord[]; zoneConfig?: ApiZone }>('recordsUpdate', json, false);
    try {
      const now = needed(answer?.zoneConfig, 'zone');
      await pollUntilDone(
        now,
        ({ status }) => status === 'blocked',
        () => config(zone),
      );
      return neededList(answer?.records, 'records');
    } catch (error) {
      throw error instanceof ProviderError ? error.applied(true) : error;
    }
  }
  const one = async (zone: RemoteZone, change: Change) => (await write(zone, [change]))[0] as RemoteRecord;

  return {
    check: async () => void needed(await call('zoneConfigsFind', { limit: 1, page: 1 }), 'zones'),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ field: 'ZoneName', value: name })),
    listRecords: (zone) => records(zone),
    apply: serializePerZone(
      fromRecords({
        judge: (record) => refuseRoot(record, 'hosting.de'),
        createRecord: (zone, after) => one(zone, { op: 'create', after }),
        updateRecord: (zone, before, after) => one(zone, { op: 'update', before, after }),
        deleteRecord: (zone, before) => write(zone, [{ op: 'delete', before }]),
        readRecord: async (zone, before) => (await records(zone, byId(before)))[0] ?? null,
        findRecords: (zone, after) => records(zone, at(after, zone)),
        batch: (zone, changes) => write(zone, changes as [Change, ...Change[]]),
      }),
    ),
  };
};

const byId = ({ remoteId: value }: RemoteRecord): Filter[] => [{ field: 'RecordId', value }];
/** Records of a name and type, and for a wildcard those of all names below. */
const at = ({ host, type }: DnsRecord, zone: RemoteZone): Filter[] => [
  { field: 'RecordType', value: type },
  { field: 'RecordName', value: fullName(host, zone.name) },
];
const hasPriority = (type: string): boolean => type === 'MX' || type === 'SRV';

/** What is to be sent: not what is there, and of what changes all that was read (it takes the place of the old one). */
async function planned(changes: readonly Change[], before: readonly ApiRecord[], zone: string) {
  const body = { recordsToAdd: [] as object[], recordsToModify: [] as object[], recordsToDelete: [] as object[] };
  const touched = new Set(changes.flatMap((change) => (change.op === 'create' ? [] : change.before.remoteId)));
  const stays = await readEach(
    before.filter((row) => !touched.has(row?.id)),
    zone,
    (row) => fromApi(row, zone),
  );
  for (const change of changes) {
    const row = change.op === 'create' ? undefined : rowOf(change, before);
    const modified = row && modifiedOf(change, row, zone);
    if (modified) body.recordsToModify.push(modified);
    else if (row) body.recordsToDelete.push({ id: row.id });
    if (change.op === 'delete' || modified) continue;
    if (change.op === 'update' || !stays.some((r) => sameRecord(r, change.after)))
      body.recordsToAdd.push(toApi(change.after, zone));
  }
  return body;
}

/** What is there of a record that is changed or deleted. @throws ProviderError `not_found` for one that is changed */
function rowOf(change: Exclude<Change, { op: 'create' }>, before: readonly ApiRecord[]): ApiRecord | undefined {
  const row = before.find((one) => one?.id === change.before.remoteId);
  if (row || change.op === 'delete') return row;
  throw new ProviderError('not_found', 'hosting.de has no such record any more', false);
}

/** The record as it is to be, with all that was read of it; null where it goes, or changes its type. */
function modifiedOf(change: Change, row: ApiRecord, zone: string): object | null {
  if (change.op !== 'update' || change.before.type !== change.after.type) return null;
  return { ...row, ...changedPart(toApi(change.after, zone), difference(change.before, change.after), SOURCES) };
}

function fromApi({ id, name, type, content, ttl, priority }: ApiRecord, zone: string): RemoteRecord | null {
  const text = type === 'TXT' && !content.startsWith('"') ? txtPresentation(content) : content;
  const read = fromRdata(name, type, hasPriority(type) ? `${priority ?? 0} ${text}` : text, ttl, zone);
  return read && { ...read, remoteId: id };
}

const toApi = ({ host, type, value, ttl, priority }: DnsRecord, zone: string) => ({
  ...{ name: fullName(host, zone), type, content: type === 'TXT' ? txtPresentation(value) : value, ttl },
  ...(hasPriority(type) && { priority: priority ?? 0 }),
});
