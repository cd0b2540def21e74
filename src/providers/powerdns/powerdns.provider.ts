import PQueue from 'p-queue';
import { sleep } from '../../common/clock.js';
import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import { ProviderError } from '../errors.js';
import type { Http } from '../http.js';
import { type Credentials, type DnsProvider, defineProvider, type RemoteZone, secret, text } from '../provider.js';
import { fromRrsets } from '../rrset.js';
import { type ApiSet, type ApiZone, apiChange, apiName, recordsOf, setsOf } from './mapping.js';

/** Further attempts of a write that the server's database refused. */
const BUSY_RETRIES = 2;
/** Up to so many changes, sets are read one by one where the server can do that. */
const FEW_CHANGES = 10;
/** What the server writes as primary server when its `default-soa-content` is not set (seen on 4.7). */
const PLACEHOLDER_SOA = 'a.misconfigured.dns.server.invalid.';

/** PowerDNS Authoritative over its HTTP API: record sets without ids, native `disabled` (OpenAPI; seen on 4.7). */
export const powerdns = defineProvider({
  kind: 'powerdns',
  label: 'PowerDNS Authoritative',
  docs: 'https://doc.powerdns.com/authoritative/http-api/',
  credentials: [
    [
      text('url', 'URL', {
        kind: 'url',
        help: 'Where the API listens, such as http://192.0.2.1:8081; /api/v1 may be left out.',
      }),
      secret('api_key', 'API key'),
      text('server_id', 'Server id', { required: false, default: 'localhost' }),
      text('nameservers', 'Name servers', {
        required: false,
        kind: 'list',
        help: 'Host names for the NS records of zones that are created here.',
      }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, ...EXTRA_TYPES],
    ids: 'derived',
    ttlOf: 'set',
    replaces: 'set',
    toggle: 'record',
    atomic: true,
    createZone: true,
  },
  limits: { requests: 1000 },
  connect(credentials, context): DnsProvider {
    const http = context.http.extend({
      baseUrl: baseUrl(credentials),
      headers: { 'x-api-key': credentials.api_key ?? '' },
      errorMessage: (body) => (body as { error?: string } | null)?.error,
      // 404 since 4.2, before it 422 (recorded)
      errorKind: (status, body) =>
        status === 422 && JSON.stringify(body).includes('Could not find domain') ? 'not_found' : undefined,
    });
    const writes = new PQueue({ concurrency: 1 });
    // asked once: a server that is updated meanwhile is only read more than it needs
    let known: Promise<boolean> | undefined;
    const canFilter = () => {
      known ??= filters(http);
      return known;
    };
    const write = (zone: RemoteZone, rrsets: unknown[]) => writes.add(() => patch(http, zone, rrsets));
    const read = (zone: RemoteZone, query = {}) => http.get<ApiZone | undefined>(pathOf(zone), { query });

    /** All sets of a zone. @throws ProviderError when that cannot be all: what is missing would be written away */
    const readWhole = async (zone: RemoteZone): Promise<ApiSet[]> => {
      const sets = setsOf(await read(zone));
      if (!sets.some((s) => s.type === 'SOA' && nameIs(s.name, `${zone.name}.`) && s.records.length)) {
        throw new ProviderError('unavailable', 'The answer of PowerDNS is cut short: it has no SOA');
      }
      return sets;
    };

    return {
      async check() {
        await http.get('');
      },

      async listZones() {
        const zones = await http.get<ApiZone[] | undefined>('/zones');
        if (!Array.isArray(zones)) throw new ProviderError('unavailable', 'PowerDNS did not answer a list of zones');
        return zones.filter((z) => z.name !== '.').map(remoteZone);
      },

      async listRecords(zone) {
        const sets = await readWhole(zone);
        return sets.flatMap((s) => recordsOf(s, zone.name)).map((r) => r.record);
      },

      async apply(zone, changes) {
        const single = changes.length <= FEW_CHANGES && (await canFilter());
        // one listing serves all reads before a write: they belong to one moment anyway
        let whole: Promise<ApiSet[]> | undefined;
        return fromRrsets({
          async readSet(_zone, host, type) {
            const name = apiName(host, zone.name);
            const query = { rrset_name: name, rrset_type: type };
            if (!single) whole ??= readWhole(zone);
            const sets = await (whole ?? read(zone, query).then(setsOf));
            const set = sets.find((s) => s.type === type && nameIs(s.name, name));
            const members = set ? recordsOf(set, zone.name) : [];
            return {
              host,
              type,
              ttl: set?.ttl ?? 0,
              members: members.map(({ record, rdata }) => ({
                remoteId: record.remoteId,
                rdata,
                enabled: record.enabled,
              })),
            };
          },
          async replaceSets(_zone, sets) {
            whole = undefined;
            // sets that go come first: the server checks one after the other, and a CNAME cannot come before what it
            // replaces has gone
            const ordered = sets.toSorted((a, b) => Math.min(a.members.length, 1) - Math.min(b.members.length, 1));
            await write(
              zone,
              ordered.map((set) => apiChange(set, zone.name)),
            );
            return true;
          },
        })(zone, changes);
      },

      async createZone(name) {
        const nameservers = (credentials.nameservers ?? '').split(/[\s,]+/).filter(Boolean);
        const absolute = nameservers.map((n) => n.replace(/\.?$/, '.'));
        const body = { name: `${name}.`, kind: 'Native', nameservers: absolute };
        const made = await http.post<ApiZone>('/zones', { json: body });
        const zone = remoteZone(made);
        const soa = made.rrsets?.find((s) => s.type === 'SOA');
        if (!soa || soa.records.some((r) => r.content.startsWith(PLACEHOLDER_SOA))) {
          const content = `${absolute[0] ?? `${name}.`} hostmaster.${name}. 0 10800 3600 604800 3600`;
          await write(zone, [
            {
              name: `${name}.`,
              type: 'SOA',
              ttl: 3600,
              changetype: 'REPLACE',
              records: [{ content, disabled: false }],
            },
          ]);
        }
        return zone;
      },
    };
  },
});

function baseUrl(credentials: Credentials): string {
  const url = (credentials.endpoint || credentials.url || '').replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return `${url}/api/v1/servers/${encodeURIComponent(credentials.server_id || 'localhost')}`;
}

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}`;
const nameIs = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const remoteZone = (zone: ApiZone): RemoteZone => ({
  id: zone.id,
  name: zone.name.toLowerCase().replace(/\.$/, ''),
});

/**
 * Whether the server can answer single sets. Servers before 4.6 ignore the filter, those before 5.0 leave out disabled
 * records when it is given (PowerDNS issue 11473; seen on 4.7), and writing such a set back would lose them. Failing to
 * tell means no.
 */
async function filters(http: Http): Promise<boolean> {
  const server = await http.get<{ version?: string } | undefined>('').catch(() => undefined);
  return Number.parseInt(server?.version ?? '', 10) >= 5;
}

/**
 * One PATCH, all sets or none. Whole sets are replaced, so it may be repeated. Over SQLite the server answers 500 to a
 * write that meets another one (seen on 4.7), and nothing is changed: tried again after a moment.
 */
async function patch(http: Http, zone: RemoteZone, rrsets: unknown[]): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await http.patch(pathOf(zone), { json: { rrsets }, idempotent: true });
      return;
    } catch (error) {
      const busy = error instanceof ProviderError && error.message.endsWith('(HTTP 500)');
      if (!busy || attempt >= BUSY_RETRIES) throw error;
      await sleep(150 * (attempt + 1));
    }
  }
}
