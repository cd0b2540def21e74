import { fullName, toAscii } from '../../dns/names.js';
import { txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { reading } from '../kit/http/deadline-context.js';
import { cutShort, errorHooks, ProviderError, type VendorError } from '../kit/http/errors.js';
import { allPages, offsetPages } from '../kit/http/pages.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey, SetMember } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import type { Connect, RemoteZone } from '../provider.js';

type Domain = { domain: string; status?: string; expires?: string };
/** As the API has it (description of v1): relative names, `@` the apex, targets without final dot, TXT as it is. */
type Row = { [key in 'type' | 'name' | 'data']: string } & { ttl: number } & {
  [key in 'service' | 'protocol' | 'tag']?: string;
} & { [key in 'priority' | 'port' | 'weight' | 'flags']?: number };
type Failure = { code?: string; message?: string; fields?: { path?: string; message?: string }[] };

/** Rows of a page (description of v1). */
const ROWS = 500;
const DOMAINS = 1000;
const UNPROCESSABLE = /HTTP 422\)?$/;
/** Up to so many sets are read one by one: an account may ask 60 times a minute. */
const FEW_SETS = 3;
const FIELDS = typedFields({ names: { target: 'data' } });
/** GoDaddy's own word for the address of a name without one. */
const PARKED = 'Parked';
const NAMES = ['CNAME', 'NS', 'MX', 'SRV'];
const KINDS = {
  auth: ['ACCESS_DENIED', 'UNABLE_TO_AUTHENTICATE', 'MALFORMED_CREDENTIALS'],
  not_found: ['UNKNOWN_DOMAIN'],
};
/** The answer to a good key of an account that the API is not for says nothing of it (issues of many clients). */
const TEN = 'since 2024 GoDaddy opens this API only to accounts with ten domains or more, or the Domain Pro plan';

export const connect: Connect = ({ api_key, api_secret }, context) => {
  const headers = { authorization: `sso-key ${api_key}:${api_secret}` };
  const http = context.http.extend({ headers, ...errorHooks(errorsOf, KINDS) });
  const rows = async (path: string, offset?: number): Promise<Row[]> => {
    const list = await http.get<Row[] | undefined>(path, { query: { limit: ROWS, offset } });
    if (Array.isArray(list)) return list;
    throw cutShort('records');
  };
  /** Reads pages. That behind the last one, where this was full, is refused: what is so is asked for once more. */
  const pages = (path: string) => {
    let full = false;
    return async (offset?: number): Promise<Row[]> => {
      const behind =
        <T>(otherwise: () => T) =>
        (error: unknown): T => {
          if (full && offset !== undefined && error instanceof ProviderError && UNPROCESSABLE.test(error.message))
            return otherwise();
          throw error;
        };
      const asked = rows(path, offset).catch(behind(() => rows(path, offset)));
      const found = await asked.catch(behind(() => []));
      if (found.length) full = found.length === ROWS;
      return found;
    };
  };
  // what `offset` counts is said nowhere, and clients differ
  const all = (path: string) => offsetPages(keyOf, pages(path), ROWS);
  /** What is parked says nothing of the others of its set. */
  const sets = async (list: Row[], zone: RemoteZone): Promise<{ own: PlainSet[]; parked: PlainSet[] }> => {
    const read = (some: Row[]) => plainSets(some, (row) => plain(row, zone.name));
    return { own: await read(list.filter((row) => !isParked(row))), parked: await read(list.filter(isParked)) };
  };
  const single = (zone: RemoteZone, { host, type }: SetKey) => all(`${pathOf(zone)}/${type}/${nameOf(host, type)}`);

  return {
    check: async () => void (await http.get('/v1/domains', { query: { limit: 1 } })),
    async listZones() {
      const domains = await allPages(domainOf, async ({ next }) => {
        const query = { limit: DOMAINS, marker: next ?? undefined };
        const entries = await http.get<Domain[] | undefined>('/v1/domains', { query });
        return { entries, next: entries?.length === DOMAINS ? (entries.at(-1)?.domain ?? '') : null };
      });
      // those that were given up stay in the list, without a zone
      const live = domains.filter(({ status = '' }) => !/^(CANCELLED|TRANSFERRED|CONFISCATED)/.test(status));
      return live.map(({ domain }) => ({ id: domain, name: toAscii(domain) }));
    },
    async listRecords(zone) {
      const { own, parked } = await sets(await all(pathOf(zone)), zone);
      return [...(await recordsIn(own, zone.name)), ...(await recordsIn(parked, zone.name))];
    },
    async zoneInfo(zone) {
      const found = await http.get<Domain | undefined>(`/v1/domains/${encodeURIComponent(zone.id)}`);
      return { lines: [], minTtl: null, expiresAt: found?.expires ?? null, plan: null };
    },
    apply: fromRrsets({
      async readSets(zone, keys) {
        const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
        const { own, parked } = await sets(few || (await all(pathOf(zone))), zone);
        const beside = await setsAt(keys, parked, zone.name);
        return (await setsAt(keys, own, zone.name)).map((set, i) => {
          const { ttl, members } = beside[i] as RecordSet;
          return { ...set, ttl: set.members.length ? set.ttl : ttl, members: [...set.members, ...members] };
        });
      },
      async replaceSet(zone, set) {
        // the other services at the same name, as they are at this moment
        const there = set.type === 'SRV' ? await reading(() => single(zone, set)) : [];
        const others = there.filter((row) => hostOf(row) !== set.host);
        // GoDaddy does not take it back
        const members = set.members.filter(({ rdata }) => rdata !== PARKED);
        const json = [...others, ...members.map((member) => toApi(set, member))];
        const path = `${pathOf(zone)}/${set.type}/${nameOf(set.host, set.type)}`;
        if (json.length) return http.put(path, { json }).then(() => true);
        const failed = await http.delete(path).catch((error: ProviderError) => error);
        if (!(failed instanceof ProviderError)) return true;
        // read once more: it may be the zone that is gone
        if (failed.kind === 'not_found') return false;
        throw failed;
      },
    }),
  };
};

/** Rows that differ in anything are several. */
const keyOf = (row: Row): string => JSON.stringify(row);
const isParked = (row: Row): boolean => row?.type === 'A' && row.data === PARKED;
const domainOf = ({ domain }: Domain): string => domain;
const pathOf = (zone: RemoteZone): string => `/v1/domains/${encodeURIComponent(zone.id)}/records`;

function errorsOf(body: unknown): VendorError[] {
  const { code, message = '', fields = [] } = (body ?? {}) as Failure;
  if (!code) return [];
  const all = [message, ...[fields].flat().map((f) => `${f.path ?? ''} ${f.message ?? ''}`.trim())];
  return [{ code, message: [...all, ...(code === 'ACCESS_DENIED' ? [TEN] : [])].filter(Boolean).join('; ') }];
}

/** The service of a SRV stands in fields of its own; a name without one is sent as it is. */
function serviceOf(host: string, type: string) {
  const [, service, protocol, name = '@'] = (type === 'SRV' && /^(_[^.]+)\.(_[^.]+)(?:\.(.+))?$/.exec(host)) || [];
  return service ? { service, protocol, name } : { name: host };
}
const nameOf = (host: string, type: string): string => encodeURIComponent(serviceOf(host, type).name);
const hostOf = ({ type, service, protocol, name }: Row): string =>
  (type === 'SRV' && service ? [service, protocol, ...(name === '@' ? [] : [name])].join('.') : name).toLowerCase();

function plain(row: Row, zone: string): PlainSet {
  const { type, ttl, name: _n, data: _d, service: _s, protocol: _p, tag: _t, ...more } = row;
  const { priority: _priority, port: _port, weight: _weight, flags: _flags, ...extra } = more;
  // data of another form is not understood, and holds its set as such
  const rdata = typeof row.data === 'string' ? rdataOf(row, zone) : row.data;
  const readOnly = isParked(row) ? 'It stands for a parked name, and is not an address' : undefined;
  return { name: fullName(hostOf(row), zone), type, ttl, values: [{ rdata, raw: row, extra }], readOnly };
}

function rdataOf(row: Row, zone: string): string {
  const { type } = row;
  // the zone's own name may come as `@`
  const data = !NAMES.includes(type) ? row.data : row.data === '@' ? `${zone}.` : row.data.replace(/\.?$/, '.');
  const text = type === 'TXT' ? txtPresentation(data) : row.tag ? `${row.flags ?? 0} ${row.tag} "${data}"` : data;
  return (/MX|SRV/.test(type) && FIELDS.rdata(type, { priority: 0, ...row, data })) || text;
}

/** Each row keeps the TTL of its own, unless that of the set is changed. */
function toApi({ host, type, ttl: ofSet }: RecordSet, { rdata, raw, ttl = ofSet }: SetMember): object {
  const row = { ...(raw as Row | undefined), type, ...serviceOf(host, type), ttl };
  if (type === 'TXT') return { ...row, data: txtFromPresentation(rdata) };
  const bare = rdata.replace(/(?<=[^ ])\.$/, '');
  const [priority, ...rest] = bare.split(' ');
  return { ...row, ...(FIELDS.of({ type, priority: Number(priority), value: rest.join(' ') }) ?? { data: bare }) };
}
