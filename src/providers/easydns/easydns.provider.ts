import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { errorHooks, NotBegun, needed, orNull, ProviderError } from '../kit/http/errors.js';
import { basicAuth } from '../kit/http/http-client.js';
import { allPages, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2016, samples of octoDNS 2021): numbers as texts, texts raw, names as in zone files. */
type ApiRecord = { id: string | number; host: string; type: string; rdata: string; ttl: string | number } & {
  prio?: string | number | null;
  geozone_id?: string | number | null;
};
type Page<T> = { data?: T; total?: number | string; status?: number } | null | undefined;
type One = { data?: { id?: string | number } } | null | undefined;
/** By their numbers (seen by a Terraform provider 2026), or in a list (documentation). */
type Domains = { index?: Domain[]; [number: string]: Domain | Domain[] | string | undefined };
type Domain = { name: string };
type Failure = { error?: { code: number; message: string }; status?: number; msg?: string };

const json = { format: 'json' };
const MOST_PRIORITY = 100;
const parts = typedFields();

export const connect: Connect = ({ token, api_key }, context) => {
  const http = context.http.extend({
    headers: basicAuth(token, api_key),
    ...errorHooks(
      (body) => {
        const { error, status = 0, msg = '' } = (body ?? {}) as Failure;
        return error ?? (status >= 400 && { code: status, message: msg });
      },
      { rate_limit: [420, 429, /enhance your calm/i], auth: [401, 403], not_found: [404] },
      { 420: 'rate_limit' },
    ),
  });
  const user = async (): Promise<string> => {
    const { data } =
      (await http.get<{ data?: { user?: string } | { user?: string }[] } | undefined>('/user', {
        query: json,
      })) ?? {};
    return needed([data].flat()[0]?.user, 'user');
  };
  const list = <T extends object, D>(
    path: string,
    idOf: (one: T) => string,
    entriesOf: (data?: D) => T[] | undefined,
  ) =>
    allPages<T>(idOf, async ({ offset: start }) => {
      const answer = await http.get<Page<D>>(path, { query: { ...json, start, max: 1000 } });
      return counted(entriesOf(answer?.data), answer?.total);
    });
  /** A zone that is not in the account is answered 403, as refused credentials are (octoDNS: both mean "no zone"). */
  const inZone = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch(async (error: unknown) => {
      if (!(error instanceof ProviderError) || error.kind !== 'auth' || !(await user().catch(() => null))) throw error;
      throw new ProviderError('not_found', error.message, error.mayHaveApplied);
    });
  async function records(zone: RemoteZone): Promise<RemoteRecord[]> {
    const all = list<ApiRecord, ApiRecord[]>(
      pathOf('all', zone),
      ({ id }) => `${id}`,
      (data) => data,
    );
    return readEach(await inZone(all), zone.name, fromApi);
  }
  const written = (answer: One): string => String(needed(answer?.data?.id, 'id'));

  return {
    check: async () => void (await user()),
    async listZones() {
      const path = `/domains/list/${encodeURIComponent(await user())}`;
      const all = await list<Domain, Domains>(path, ({ name }) => name, domainsIn);
      return all.map(({ name }) => zoneOf(name));
    },
    findZone: async (name) => {
      const path = `/domain/${encodeURIComponent(name)}`;
      const asked = http.get<{ data?: { onsystem?: string } } | undefined>(path, { query: json });
      const found = await orNull(inZone(asked));
      return found?.data?.onsystem === 'Y' ? zoneOf(name) : null;
    },
    ...fromList(records, {
      judge,
      fixed: ['type'],
      whole: true,
      createRecord: async (zone, record) => {
        const path = `${pathOf('add', zone)}/${record.type}`;
        // a repetition is refused: the record exists
        const options = { query: json, json: toApi(record, zone), idempotent: false };
        return written(await inZone(http.put<One>(path, options)));
      },
      updateRecord: async (zone, { remoteId }, after) => {
        return written(
          await http.post<One>(pathOf(remoteId), { query: json, json: toApi(after, zone), idempotent: true }),
        );
      },
      deleteRecord: (zone, { remoteId }) =>
        inZone(http.delete(`${pathOf(zone.id)}/${encodeURIComponent(remoteId)}`, { query: json })),
      vague: true,
    }),
  };
};

const pathOf = (what: string, zone?: RemoteZone): string =>
  ['/zones/records', what, ...(zone ? [zone.id] : [])]
    .map((part, i) => (i ? encodeURIComponent(part) : part))
    .join('/');

function domainsIn(data?: Domains): Domain[] | undefined {
  if (!data) return undefined;
  const numbered = Object.entries(data).filter(([key]) => /^\d+$/.test(key));
  return data.index ? [data.index].flat() : (numbered.map(([, one]) => one) as Domain[]);
}

function judge({ type, priority }: DnsRecord): void {
  if ((priority ?? 0) > MOST_PRIORITY)
    throw new NotBegun('rejected', `easyDNS takes priorities of 0 to ${MOST_PRIORITY} in ${type} records`);
}

function fromApi({ id, host, type, rdata, ttl, prio, geozone_id }: ApiRecord, zone: string): RemoteRecord | null {
  // SRV with its priority in the sample of octoDNS, without it in the documentation
  const isBeside = type === 'MX' || (type === 'SRV' && rdata.split(' ').length === 3);
  const whole = isBeside ? `${prio ?? 0} ${rdata}` : parts.spaced(type, rdata);
  const value = type === 'TXT' ? rdata : absoluteRdata(type, whole, zone);
  // what stands for its own servers
  if (rdata === 'LOCAL.') return plainRecord({ id, host, type, value, ttl }, zone, { readOnly: true, value: 'local.' });
  // what is answered in some regions only
  return plainRecord({ id, host, type, value, ttl }, zone, { readOnly: Number(geozone_id ?? 0) !== 0 });
}

/** All of a record but its region, which an update keeps (recorded 2016). */
function toApi({ host, type, value, ttl, priority }: DnsRecord, zone: RemoteZone): object {
  const [flags, tag, ...rest] = value.split(' ');
  const target = /^(CNAME|MX|NS|PTR|SRV)$/.test(type) ? value.replace(/\.?$/, '.') : value;
  const rdata = type === 'CAA' ? `${flags} ${tag} ${rest.join(' ').replace(/^"(.*)"$/, '$1')}` : target;
  return { domain: zone.id, host, type, rdata, ttl, prio: priority ?? 0 };
}
