import { fullName } from '../../dns/names.js';
import type { DnsRecord } from '../../dns/record.js';
import { NotBegun, ProviderError } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import { refusing } from '../kit/rrsets/refusing.js';
import { huaweiClient } from '../kit/signing/huawei.js';
import { refuseText } from '../kit/values/value-limits.js';
import { recordPath, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers (official model 2026; recorded 2023 of another cloud of the family). Names have a final dot. */
type ApiSet = RemoteZone & More & { type: string; ttl: number; records: string[] | null; status: string };
type ApiZone = { id: string; name: string; zone_type?: string; status?: string };
type More = { line?: string; weight?: number; description?: string | null } & {
  alias_target?: { resource_domain_name?: string } | null;
};
type Answer<T> = { [key: string]: T[] | undefined } & { metadata?: { total_count: number } };

/** Not served; `PENDING_…` is on the way there. */
const PAUSED = /^(PENDING_)?(DISABLE|FREEZE)$|^(ILLEGAL|POLICE)$/;
const keyOf = (set: ApiSet | null): string => `${set?.name} ${set?.type} ${set?.line}`;
const lineOf = (line = 'default', from = 'default_view', to = 'default'): string => (line === from ? to : line);

export const connect: Connect = ({ access_key_id: id = '', secret_access_key: key = '', ...more }, context) => {
  if (more.region && !/^[a-z0-9-]+$/.test(more.region)) throw new ProviderError('auth', 'That is no name of a region');
  const regional = more.region && !more.endpoint ? { baseUrl: `https://dns.${more.region}.myhuaweicloud.com` } : {};
  const http = context.http.extend({
    ...huaweiClient({ accessKeyId: id, secretAccessKey: key }),
    ...regional,
    headers: more.project_id ? { 'x-project-id': more.project_id } : {},
  });
  const list = <T extends RemoteZone>(path: string, field: string, query = {}): Promise<T[]> =>
    allPages(byId, async ({ offset }) => {
      const answer = await http.get<Answer<T> | undefined>(path, { query: { limit: 500, ...query, offset } });
      return { entries: answer?.[field], total: answer?.metadata?.total_count ?? Number.NaN };
    });
  const zones = async (query = {}) =>
    (await list<ApiZone>('/v2/zones', 'zones', { type: 'public', ...query })).map(remoteZone);
  // whole: the filter of names finds parts of them, too, and nobody has seen its exact form at work
  const setsOf = async (zone: RemoteZone) => {
    const all = (await list<ApiSet>(pathOf(zone), 'recordsets')).filter((set) => set?.status !== 'PENDING_DELETE');
    const ids = new Map(all.map((set) => [keyOf(set), set?.id]));
    // sets of one name, type and line are weighted against each other
    const twins = new Set(all.filter((set) => ids.get(keyOf(set)) !== set?.id).map(keyOf));
    return plainSets(all, (set) => plain(set, twins.has(keyOf(set))));
  };

  return {
    check: () => http.get('/v2/zones', { query: { type: 'public', limit: 1 } }),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ name })),
    listRecords: async (zone) => recordsIn(await setsOf(zone), zone.name),
    async zoneInfo() {
      const all = await list('/v2.1/system-lines', 'lines', { locale: 'en-us' });
      const lines = all.map(({ id, name }) => ({ id: lineOf(id), name }));
      return { lines, minTtl: null, expiresAt: null, plan: null };
    },
    // pages shift while another list is written; of its batches none takes a mixed list whole (documentation 2025)
    apply: refusing(
      fits,
      serializePerZone(
        fromRrsets({
          readSets: async (zone, keys) => setsAt(keys, await setsOf(zone), zone.name),
          async replaceSet(zone, { host, type, ttl, members, line, extra }, was) {
            const { id } = (was.raw ?? {}) as { id?: string };
            const json = { name: `${fullName(host, zone.name)}.`, type, ttl, records: members.map((m) => m.rdata) };
            try {
              if (!id)
                await http.post(pathOf(zone), {
                  json: { ...extra, ...json, line: lineOf(line, 'default', 'default_view') },
                });
              // keeps weight and description, which are left out (official model)
              else if (members.length) await http.put(pathOf(zone, id), { json });
              else await http.delete(pathOf(zone, id));
            } catch (error) {
              // gone since it was read
              if (id && error instanceof ProviderError && error.kind === 'not_found') return members.length === 0;
              throw error;
            }
            return true;
          },
        }),
      ),
    ),
  };
};

const remoteZone = ({ id, name, zone_type: type, status = '' }: ApiZone): RemoteZone =>
  zoneOf(name, id, { hidden: type === 'private', idle: PAUSED.test(status) });
const pathOf = recordPath('/v2.1/zones', 'recordsets');

function plain({ id, name, type, ttl, status, line, records, weight, ...more }: ApiSet, twin: boolean): PlainSet {
  const { alias_target: alias, description } = more;
  const enabled = !PAUSED.test(status);
  const what = alias ? 'is an alias' : twin ? 'is several sets with weights' : enabled ? undefined : 'is paused there';
  const readOnly = what && `It ${what}: change it in the console of Huawei`;
  const texts = alias ? [`ALIAS ${alias.resource_domain_name}`] : (records as string[]);
  const values = texts.map((text) => ({ rdata: twin ? `${text} of weight ${weight ?? 1}` : text, enabled }));
  return { name, type, ttl, values, line: lineOf(line ?? undefined), raw: { id }, extra: { description }, readOnly };
}

/** No backslash in texts, 4096 characters with all quotes (user guide); no null MX (dnscontrol, 2024). */
function fits(record: DnsRecord): void {
  const never = [[/["\\]|[^ -~]/, 'quotes, backslashes, or what is not ASCII']] as const;
  refuseText(record, 'Huawei Cloud', { bytes: 4048, never });
  if (record.type === 'MX' && record.value === '.') throw new NotBegun('rejected', 'Huawei Cloud takes no null MX');
}
