import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

type Id = { id?: string };
export interface AzureSet {
  name: string;
  type: string;
  etag: string;
  properties: { TTL: number; metadata?: object } & Partial<Record<'targetResource' | 'trafficManagementProfile', Id>> &
    Record<string, unknown>;
}

const ZONE = 'contract.example';
/** The fields of a value, those of objects within it after a dot (specification of 2023-07-01-preview). */
const FIELDS: Record<string, string> = {
  DS: 'algorithm:number digest.algorithmType:number digest.value:string keyTag:number',
  NAPTR: 'flags:string order:number preference:number regexp:string replacement:string services:string',
  TLSA: 'certAssociationData:string matchingType:number selector:number usage:number',
};
const fieldsIn = (value: unknown, at = ''): string[] =>
  Object.entries(value as object).flatMap(([name, field]) =>
    typeof field === 'object' ? fieldsIn(field, `${at}${name}.`) : `${at}${name}:${typeof field}`,
  );
const NO_ALIAS = { targetResource: {}, trafficManagementProfile: {} };
const ROOT = '/subscriptions/a-subscription';
const ZONES = `${ROOT}/resourceGroups/Group-1/providers/Microsoft.Network/dnszones`;

/** What the API does (traffic of 2023, its description): entity tags, values in a list of the type, pages by link. */
export async function startAzure() {
  let tags = 0;
  const made = (name: string, type: string, properties: AzureSet['properties']): AzureSet => ({
    ...{ name, type: `Microsoft.Network/dnszones/${type}`, etag: `tag-${++tags}` },
    properties: { fqdn: `${name === '@' ? '' : `${name}.`}${ZONE}.`, ...NO_ALIAS, ...properties },
  });
  const state = {
    sets: [
      made('@', 'NS', {
        TTL: 172800,
        NSRecords: [{ nsdname: 'ns1-05.azure-dns.com.' }, { nsdname: 'ns2-05.azure-dns.net.' }],
      }),
      made('@', 'SOA', { TTL: 3600, SOARecord: { host: 'ns1-05.azure-dns.com.', email: 'x', serialNumber: 1 } }),
    ],
    page: 100,
    tokens: [] as string[],
  };
  const no = (status: number, code: string, message: string): Answer => ({
    status,
    body: { error: { code, message } },
  });

  function token(path: string, body: unknown): Answer {
    const form = Object.fromEntries(new URLSearchParams(String(body)));
    if (path !== '/a-tenant/oauth2/token')
      return { status: 400, body: { error: 'x', error_description: 'Tenant not found' } };
    if (form.client_id !== 'a-client' || form.client_secret !== 'a-secret' || !form.resource) {
      return {
        status: 401,
        body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret' },
      };
    }
    state.tokens.push(`token-${state.tokens.length + 1}`);
    return { body: { token_type: 'Bearer', expires_in: '3599', access_token: state.tokens.at(-1) } };
  }

  function unlike(type: string, properties: AzureSet['properties']): boolean {
    const key = type === 'CNAME' ? 'CNAMERecord' : type === 'CAA' ? 'caaRecords' : `${type}Records`;
    const value = properties[key];
    const values = type === 'CNAME' ? [value] : value;
    if (!Array.isArray(values) || !Number.isInteger(properties.TTL)) return true;
    if (new Set(values.map((one) => JSON.stringify(one))).size < values.length) return true;
    if (FIELDS[type] && values.some((one) => fieldsIn(one).sort().join(' ') !== FIELDS[type])) return true;
    const long = (text: unknown) => typeof text !== 'string' || Buffer.byteLength(text) > 255;
    return type === 'TXT' && values.some((one) => !Array.isArray(one.value) || one.value.some(long));
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (path.endsWith('/oauth2/token')) return token(path, body);
    if (!state.tokens.includes((headers.authorization ?? '').replace('Bearer ', ''))) {
      return no(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
    }
    if (query['api-version'] !== '2023-07-01-preview')
      return no(400, 'MissingApiVersionParameter', 'The api-version is required');
    const paged = (all: object[]): Answer => {
      const at = Number(query.$skipToken ?? 0);
      const end = at + Math.min(state.page, Number(query.$top ?? 100));
      const link = `${standIn.url}${path}?api-version=2023-07-01-preview&$skipToken=${end}`;
      return { body: { value: all.slice(at, end), ...(end < all.length && { nextLink: link }) } };
    };
    // the parts of a path are read in any case
    const below = path.toLowerCase().replace(`${ROOT}/resourcegroups/group-1`, ROOT);
    const [, zone, type, encoded] =
      /\/microsoft\.network\/dnszones(?:\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?)?$/.exec(below) ?? [];
    if (!below.startsWith(`${ROOT}/providers/`))
      return no(404, 'ResourceGroupNotFound', 'Resource group could not be found.');
    if (!zone) {
      const one = (name: string, zoneType: string) => ({
        id: `${ZONES}/${name}`,
        name,
        etag: 'z',
        properties: { zoneType },
      });
      return paged([one('inner.example', 'Private'), one(ZONE, 'Public'), one('other.example', 'Public')]);
    }
    if (zone !== ZONE)
      return no(404, 'ResourceNotFound', `The Resource 'Microsoft.Network/dnszones/${zone}' was not found.`);
    if (!type) return { body: { id: `${ZONES}/${ZONE}`, name: ZONE } };
    if (type === 'recordsets') return paged(state.sets);
    const upper = type.toUpperCase();
    const name = decodeURIComponent(encoded ?? '');
    const found = state.sets.find((set) => set.name === name && set.type.endsWith(`/${upper}`));
    if (method === 'GET')
      return found ? { body: found } : no(404, 'NotFound', `The resource record '${name}' does not exist`);
    const { 'if-match': match, 'if-none-match': none } = headers;
    if ((match && match !== found?.etag) || (none === '*' && found)) {
      return no(412, 'PreconditionFailed', 'The condition set by the headers was not satisfied');
    }
    if (!match && !none) return no(400, 'StandIn', 'A write that is not conditional may lose what somebody else wrote');
    if (method === 'DELETE') {
      if (name === '@' && upper === 'NS')
        return no(400, 'BadRequest', 'The NS record set at the zone apex cannot be deleted');
      state.sets = state.sets.filter((set) => set !== found);
      return { status: found ? 200 : 204 };
    }
    const { properties } = body as AzureSet;
    if (unlike(upper, properties)) return no(400, 'BadRequest', 'The record set is not valid');
    const beside = state.sets.filter((set) => set.name === name && set !== found);
    if (beside.some((set) => upper === 'CNAME' || set.type.endsWith('/CNAME'))) {
      return no(
        400,
        'BadRequest',
        `The record '${name}' could not be created because a record with the same name exists`,
      );
    }
    const now = made(name, upper, properties);
    if (found) state.sets[state.sets.indexOf(found)] = now;
    else state.sets.push(now);
    return { status: found ? 200 : 201, body: now };
  });
  return Object.assign(standIn, { state, made });
}
