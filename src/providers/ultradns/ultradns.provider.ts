import { fullName } from '../../dns/names.js';
import { txtFromInput, txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, orNull, ProviderError, type VendorError } from '../kit/http/errors.js';
import { oauth2 } from '../kit/http/oauth2.js';
import { allPages, counted } from '../kit/http/pages.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetMember } from '../kit/rrsets/record-set.js';
import { refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, DnsProvider, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2020): names with final dot, types with their number, rdata as in zone files. */
type ApiSet = { ownerName: string; rrtype: string; ttl?: number; rdata: string[]; profile?: Profile };
type Profile = { '@context'?: string };
type ApiZone = { properties: { name: string } };
type Failure = { errorCode?: number; errorMessage?: string };

const PAGE = 1000;
/** Several addresses at a name are a pool there (octoDNS 2021). */
const RD_POOL = 'http://schemas.ultradns.com/RDPool.jsonschema';
/** Texts are sent raw by all clients, and come back as they were sent or in quotes (recorded 2020). */
const NEVER = [
  [/^$|["\\]|[^ -~]|^ | $/, 'quotes, backslashes, blanks at its ends, nothing, or what is not ASCII'],
] as const;

export const connect: Connect = ({ username = '', password = '' }, context) => {
  const form = () => ({ grant_type: 'password', username, password });
  // 1801: no such zone; 70002: no data; 60001: the token (recorded 2020, octoDNS 2021)
  const hooks = errorHooks(errorsOf, { not_found: [1801, 70002], auth: [60001] });
  const http = context.http.extend(oauth2(context.http, '/v2/authorization/token', form, hooks));
  const sets = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const idOf = ({ ownerName, rrtype }: ApiSet) => `${ownerName} ${rrtype}`;
    const all = await allPages<ApiSet>(idOf, async ({ offset }) => {
      const options = { query: { offset, limit: PAGE } };
      const answer = await http.get<{ rrSets?: ApiSet[]; resultInfo?: { totalCount?: number } } | undefined>(
        pathOf(zone),
        options,
      );
      return counted(answer?.rrSets, answer?.resultInfo?.totalCount);
    });
    return plainSets(all, plain);
  };
  const zones = (limit: number, cursor?: string) => {
    const query = { q: 'zone_type:PRIMARY', limit, cursor };
    const asked = http.get<{ zones?: ApiZone[]; cursorInfo?: { next?: string } } | undefined>('/v3/zones', { query });
    // an account without zones is answered by an error (octoDNS 2021)
    return orNull(asked.then((answer) => ({ entries: answer?.zones, cursor: answer?.cursorInfo })));
  };

  return {
    check: async () => void (await zones(1)),
    async listZones() {
      const all = await allPages<ApiZone>(
        ({ properties }) => properties.name,
        async ({ next }) => {
          const page = await zones(PAGE, next === null ? undefined : `${next}`);
          if (!page && next !== null) throw cutShort('page of zones');
          if (!page) return { entries: [], next: null };
          return { entries: page.entries, next: page.cursor ? (page.cursor.next ?? null) : '' };
        },
      );
      return all.map(({ properties }) => zoneOf(properties.name));
    },
    // the pages of its list shift with each write
    ...inTurns(
      fromSets(sets, {
        judge: (record) => refuseText(record, 'UltraDNS', { never: NEVER }),
        async replaceSet(zone, set, { members }) {
          const json = toApi(set, zone);
          const path = `${pathOf(zone)}/${set.type}/${encodeURIComponent(json.ownerName)}`;
          try {
            if (!set.members.length) await http.delete(path);
            else await http.call(members.length ? 'PUT' : 'POST', path, { json });
          } catch (error) {
            // gone since it was read: all is read once more
            if (members.length && error instanceof ProviderError && error.kind === 'not_found') return false;
            throw error;
          }
          return true;
        },
      }),
    ),
  };
};

const inTurns = <T extends Pick<DnsProvider, 'apply'>>(verbs: T): T => ({
  ...verbs,
  apply: Object.assign(serializePerZone(verbs.apply), { recordsAt: verbs.apply.recordsAt }),
});
const pathOf = (zone: RemoteZone): string => `/v2/zones/${encodeURIComponent(`${zone.name}.`)}/rrsets`;
/** An answer of such a set is chosen by the asker's place, by weight or by probes. */
const isChosen = (set?: ApiSet): boolean => !!set?.profile && set.profile['@context'] !== RD_POOL;

const errorsOf = (body: unknown): VendorError[] =>
  [body].flat().flatMap((one) => {
    const { errorCode: code, errorMessage: message = '' } = (one ?? {}) as Failure;
    return code === undefined ? [] : [{ code, message }];
  });

const rdataOf = (type: string, text: string) => (type === 'TXT' ? txtPresentation(txtFromInput(text)) : text);

function plain(set: ApiSet): PlainSet {
  const { ownerName: name, rrtype, ttl = 300, rdata, profile: _profile, ...extra } = set;
  const [type = ''] = rrtype.split(' ');
  const values = rdata.map((raw) => ({ rdata: rdataOf(type, raw), raw }));
  return {
    name,
    type,
    ttl,
    values,
    raw: set,
    extra,
    readOnly: isChosen(set) ? 'It is a pool that UltraDNS chooses from' : undefined,
  };
}

function toApi({ host, type: rrtype, ttl, members, raw: held }: RecordSet, { name }: RemoteZone): ApiSet {
  const text = ({ rdata, raw }: SetMember) => {
    // a value that stays is sent as it was read
    if (raw !== undefined && rdataOf(rrtype, `${raw}`) === rdata) return `${raw}`;
    return rrtype === 'TXT' ? (txtFromPresentation(rdata) ?? rdata) : rdata;
  };
  const ownerName = `${fullName(host, name)}.`;
  const pool = { '@context': RD_POOL, order: 'ROUND_ROBIN', description: ownerName };
  const { profile: own = pool, ...kept } = (held ?? {}) as Partial<ApiSet>;
  const profile = /^A(AAA)?$/.test(rrtype) && members.length > 1 && { profile: own };
  // a PUT replaces all that a set has
  return { ...kept, ownerName, rrtype, ttl, rdata: members.map(text), ...profile };
}
