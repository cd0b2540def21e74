import { fullName } from '../../dns/names.js';
import { cutShort, orNull, wordsIn } from '../kit/http/errors.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import { signEdgegrid } from '../kit/signing/edgegrid.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (Akamai's Go client 2025, samples of octoDNS): names absolute without dot, rdata of zone files. */
type ApiSet = { name: string; type: string; ttl: number; rdata: string[] };
type List = { zones?: { zone: string; type: string }[]; recordsets?: ApiSet[]; metadata?: { totalElements?: number } };

export const connect: Connect = (
  { account_switch_key: accountSwitchKey, url = '', endpoint, ...credentials },
  context,
) => {
  const {
    client_token: clientToken = '',
    client_secret: clientSecret = '',
    access_token: accessToken = '',
  } = credentials;
  const http = context.http.extend({
    baseUrl: (endpoint || url).replace(/\/+$/, ''),
    sign: (request) => signEdgegrid(request, { clientToken, clientSecret, accessToken }),
    errorMessage: wordsIn('title', 'detail'),
  });
  const account = { accountSwitchKey: accountSwitchKey || undefined };
  const list = async <K extends 'zones' | 'recordsets'>(path: string, key: K): Promise<NonNullable<List[K]>> => {
    const answer = await http.get<List | undefined>(path, { query: { ...account, showAll: true } });
    const all = answer?.[key];
    if (!all || all.length !== answer?.metadata?.totalElements) throw cutShort(`complete list of ${key}`);
    return all;
  };
  const sets = async (zone: RemoteZone) => plainSets(await list(`${pathOf(zone)}/recordsets`, 'recordsets'), plain);

  return {
    check: () => http.get(ZONES, { query: { ...account, page: 1, pageSize: 1 } }),
    // the others are copies
    listZones: async () =>
      (await list(ZONES, 'zones')).flatMap(({ zone, type }) => (/^primary$/i.test(type) ? zoneOf(zone) : [])),
    listRecords: async (zone) => recordsIn(await sets(zone), zone.name),
    // each write makes a serial of the SOA, for which Akamai's own client does one at a time
    apply: serializePerZone(
      fromRrsets({
        readSets: async (zone, keys) => setsAt(keys, await sets(zone), zone.name),
        async replaceSet(zone, { host, type, ttl, members, raw }, was) {
          const name = fullName(host, zone.name);
          const path = `${pathOf(zone)}/names/${encodeURIComponent(name)}/types/${type}`;
          const json = { ...(raw as object | undefined), name, type, ttl, rdata: members.map(({ rdata }) => rdata) };
          // where it was gone, all is read once more: it may be the zone that is
          if (!members.length) return (await orNull(http.delete(path, { query: account }))) !== null;
          if (was.members.length) return (await orNull(http.put(path, { query: account, json }))) !== null;
          await http.post(path, { query: account, json });
          return true;
        },
      }),
    ),
  };
};

const plain = ({ name, type, ttl, rdata: all, ...extra }: ApiSet): PlainSet => ({
  ...{ name, type, ttl, extra },
  values: all.map((rdata) => ({ rdata })),
});

const ZONES = '/config-dns/v2/zones';
const pathOf = ({ id }: RemoteZone): string => `${ZONES}/${encodeURIComponent(id)}`;
