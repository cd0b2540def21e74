import { fullName, toAscii } from '../../dns/names.js';
import { quoteBytes, tokens, txtPresentation } from '../../dns/text.js';
import { timeMs } from '../../platform/common/clock.js';
import { asProviderError, idText, neededList } from '../kit/http/errors.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { SetMember } from '../kit/rrsets/record-set.js';
import { constellixToken } from '../kit/signing/constellix.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import type { Connect, RemoteZone } from '../provider.js';

type Value = { [part: string]: unknown; disableFlag?: boolean };
/** As the API has it (recorded 2018, samples of octoDNS 2019): the name relative, empty at the apex. */
type ApiSet = { id: number; name: string; type: string; ttl: number; roundRobin?: Value[] | null } & {
  [more in 'value' | 'modifiedTs' | 'recordOption' | 'geolocation' | 'gtdRegion' | 'parent' | 'noAnswer']?: unknown;
} & { pools?: unknown[] | null; failover?: { values?: Value[] } | null };
/** What is sent back with a set. */
type Held = { set: ApiSet };

const NAMED: Record<string, string> = { MX: 'level value', SRV: 'priority weight port value', CAA: 'flag tag data' };
const STRING = /"(?:[^"\\]|\\[\s\S])*"/g;

export const connect: Connect = ({ api_key = '', secret_key = '' }, context) => {
  const http = context.http.extend({
    sign: (request) => {
      const token = constellixToken(api_key, secret_key, timeMs());
      return { ...request, headers: { ...request.headers, 'x-cns-security-token': token } };
    },
    errorMessage: (body) => (body as { errors?: string[] } | null)?.errors?.toString(),
  });
  // neither this list nor that of the zones has pages (recorded 2018; octoDNS takes them for whole, too)
  const sets = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const all = neededList(await http.get<ApiSet[] | undefined>(pathOf(zone)), 'records');
    const last = new Map(all.map((set) => [keyOf(set), set]));
    const twins = new Set(all.filter((set) => last.get(keyOf(set)) !== set).map(keyOf));
    // values that are switched off are read-only: a set of their own is, here
    const read = (on: boolean) =>
      plainSets(
        all.filter((set) => hasSuch(set, on)),
        (set) => plain(set, twins.has(keyOf(set)), on, zone.name),
      );
    return [...(await read(true)), ...(await read(false))];
  };
  const send = (path: string, set: ApiSet | undefined, json: { roundRobin: Value[] }): Promise<unknown> => {
    if (!set) return http.post(path, { json });
    return json.roundRobin.length ? http.put(path, { json }) : http.delete(path);
  };

  return {
    check: () => http.get('/domains'),
    async listZones() {
      const all = neededList(await http.get<{ id: number; name: string }[] | undefined>('/domains'), 'domains');
      return all.map(({ id, name }) => ({ id: idText(id), name: toAscii(name) }));
    },
    ...fromSets(sets, {
      async replaceSet(zone, { host, type, ttl, members, extra }, { raw }) {
        const { set } = (raw ?? {}) as Partial<Held>;
        const roundRobin = members.map((member) => toApi(type, member, zone.name));
        // the target of a CNAME is `host` (recorded 2018: without it, it was the zone itself)
        const target = type === 'CNAME' && { host: roundRobin[0]?.value };
        // all else goes back as it was read (as the vendor's own client does)
        const { value: _value, modifiedTs: _time, ...kept } = set ?? (extra as Partial<ApiSet> | undefined) ?? {};
        const json = { ...kept, name: host === '@' ? '' : host, ttl, roundRobin, ...target };
        const path = pathOf(zone, type === 'ALIAS' ? 'ANAME' : type, set);
        return send(path, set, json).then(() => true, isDone);
      },
    }),
  };
};

const keyOf = (set?: ApiSet | null): string => `${set?.type} ${set?.name}`.toLowerCase();
const pathOf = (zone: RemoteZone, type?: string, set?: ApiSet): string =>
  ['/domains', zone.id, 'records', ...(type ? [type] : []), ...(set ? [idText(set.id)] : [])].join('/');

/** What a refusal means: true where the set is as it shall be, false where it came or went since it was read. */
function isDone(error: unknown): boolean {
  const { kind, message } = asProviderError(error);
  // an update that was carried out before, without an answer (seen by octoDNS, of pools)
  if (/no changes to save/i.test(message)) return true;
  if (kind === 'not_found' || /record with name .* already exists/.test(message)) return false;
  throw error;
}

/** The parts of a value, and the fields of a set, that are made anew or are Constellix' own (recorded 2018). */
const PARTS = /^(disableFlag|value|level|priority|weight|port|flag|tag|data|caaProviderId)$/;
const OWN =
  /^(id|type|recordType|name|ttl|host|value|roundRobin|modifiedTs|parent|parentId|source|failover|pools|recordOption|noAnswer|gtdRegion|geolocation)$/;
const besides = (fields: object, known: RegExp): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !known.test(name)));

/** Why a set is not one plain answer for all resolvers; undefined: it is. */
function whyFixed({ recordOption = 'roundRobin', gtdRegion = 1, parent = 'domain', ...set }: ApiSet, twin: boolean) {
  if (twin) return 'is several sets, of regions, places or a template';
  if (recordOption !== 'roundRobin') return `is of the kind "${recordOption}"`;
  if (set.geolocation || gtdRegion !== 1) return 'is of a region or a place';
  if (set.noAnswer) return 'is switched off';
  return parent === 'domain' ? undefined : 'is of a template';
}

/** The values of a set that are on, or those that are off. */
const isOn = ({ noAnswer }: ApiSet, { disableFlag }: Value): boolean => !(noAnswer || disableFlag);
/** Whether a set has values in a state; one without any stands among those that are on. */
const hasSuch = (set: ApiSet | null, on: boolean): boolean =>
  set?.roundRobin?.length ? set.roundRobin.some((value) => on === isOn(set, value)) : on;

function plain(set: ApiSet, twin: boolean, on: boolean, zone: string): PlainSet {
  const type = set.type === 'ANAME' ? 'ALIAS' : set.type;
  const why = whyFixed(set, twin);
  const mark = twin ? ` of set ${set.id}` : '';
  const read = (value: Value) => ({
    rdata: rdataOf(type, value, zone) + mark,
    enabled: on,
    raw: value,
    extra: besides(value, PARTS),
  });
  const values = (set.roundRobin ?? []).filter((value) => on === isOn(set, value)).map(read);
  // answers that come from elsewhere
  const others = [...(set.pools ?? []), ...(set.failover?.values ?? []).map(({ value }) => value)].join(', ');
  if (why && on && !set.roundRobin?.length)
    values.push({ rdata: `${set.recordOption} ${others}${mark}`, enabled: on, raw: {}, extra: {} });
  return {
    name: fullName(set.name || '@', zone),
    type,
    ttl: set.ttl,
    values,
    raw: { set },
    extra: besides(set, OWN),
    readOnly: why ? `It ${why}` : on || !values.length ? undefined : 'It has values that are switched off',
  };
}

function rdataOf(type: string, { disableFlag: _off, ...parts }: Value, zone: string): string {
  const text = `${parts.value ?? Object.values(parts).join(' ')}`;
  // strings of a text come without a blank between them, too (samples of octoDNS)
  if (type === 'TXT') return text.startsWith('"') ? text.replace(STRING, '$& ').trim() : txtPresentation(text);
  if (type === 'CAA') return `${parts.flag} ${parts.tag} ${quoteBytes(Buffer.from(`${parts.data}`))}`;
  // a name without its dot is one of the zone, nothing is the zone itself (octoDNS)
  const words = NAMED[type]?.split(' ').map((part) => (parts[part] === '' ? '@' : parts[part]) ?? null);
  if (words?.includes(null)) return JSON.stringify(parts);
  return absoluteRdata(type, words?.join(' ') ?? (text || '@'), zone);
}

/** A value with the other fields of its entry; an unchanged one is sent exactly as it was read. */
function toApi(type: string, { rdata, enabled, raw }: SetMember, zone: string): Value {
  const held = raw as Value | undefined;
  if (held && rdataOf(type, held, zone) === rdata) return { ...held, disableFlag: !enabled };
  const words = (tokens(rdata) ?? []).map((word) => word.text);
  const parts = NAMED[type]
    ?.split(' ')
    .map((part, i) => [part, /value|tag|data/.test(part) ? words[i] : Number(words[i])]);
  // 1 is an authority that Constellix has no name for (documentation of its Terraform provider)
  const own = type === 'CAA' ? { caaProviderId: 1 } : {};
  return { ...held, ...own, ...(parts ? Object.fromEntries(parts) : { value: rdata }), disableFlag: !enabled };
}
