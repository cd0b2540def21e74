import { fullName, relativeName } from '../../dns/names.js';
import { quoteBytes, tokens, txtPresentation } from '../../dns/text.js';
import { cutShort, orNull, wordsIn } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import { filled, type SetKey, type SetMember } from '../kit/rrsets/record-set.js';
import { refuseRoot, textStrings } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official client 2025): the parts of rdata in a list, numbers as such, texts raw and split. */
type ApiRecord = { content: (string | number | (string | number)[])[]; enabled?: boolean; meta?: object | null } & {
  id?: number;
};
type ApiSet = { name: string; type: string; ttl: number; resource_records: ApiRecord[] } & {
  [more in 'filters' | 'pickers' | 'meta']?: object | null;
};
type List = { zones?: { name: string }[]; rrsets?: ApiSet[]; total_amount?: number };

const PAGE = 1000;
const NUMBERS: Record<string, number> = { MX: 1, SRV: 3, CAA: 1 }; // so many parts of rdata are numbers

export const connect: Connect = ({ api_token }, context) => {
  const headers = { authorization: `APIKey ${api_token}` };
  const http = context.http.extend({ headers, errorMessage: wordsIn('error') });
  const sets = async (zone: RemoteZone): Promise<PlainSet[]> => {
    // all of them in one answer, as the official client asks
    const answer = await http.get<List | undefined>(`${pathOf(zone)}/rrsets`, { query: { all: true } });
    const { rrsets, total_amount: total = rrsets?.length } = answer ?? {};
    if (total !== rrsets?.length) throw cutShort('record sets');
    return plainSets(rrsets, (set) => plain(set, zone.name));
  };
  return {
    check: () => http.get('/zones', { query: { limit: 1 } }),
    async listZones() {
      const read = async ({ offset }: { offset: number }) => {
        const answer = await http.get<List | undefined>('/zones', { query: { limit: PAGE, offset } });
        return { entries: answer?.zones, total: answer?.total_amount };
      };
      const zones = await allPages(({ name }) => name, read, PAGE);
      return zones.map(({ name }) => zoneOf(name));
    },
    ...fromSets(sets, {
      // of SRV seen by dnscontrol (2025); an MX is like it
      judge: (record) => refuseRoot(record, 'Gcore DNS'),
      async replaceSet(zone, set, { members }) {
        const resource_records = set.members.map((member) => toApi(set.type, member));
        const json = { ...(set.raw as object | undefined), ttl: set.ttl, resource_records };
        // where it was gone, all is read once more: it may be the zone that is
        if (!set.members.length) return (await orNull(http.delete(setPath(zone, set)))) !== null;
        await http.call(members.length ? 'PUT' : 'POST', setPath(zone, set), { json });
        return true;
      },
    }),
  };
};

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}`;
const setPath = (zone: RemoteZone, { host, type }: SetKey): string =>
  `${pathOf(zone)}/${encodeURIComponent(fullName(host, zone.name))}/${type}`;
/** An answer of such a set is chosen by the asker's place, or by weight. */
const isDynamic = ({ filters, pickers }: ApiSet): boolean => [filters ?? [], pickers ?? []].flat().length > 0;

function plain(set: ApiSet, zone: string): PlainSet {
  const { name: _name, type, ttl, resource_records, filters: _filters, pickers: _pickers, ...extra } = set;
  const read = ({ content, enabled = true, id: _id, ...more }: ApiRecord) => ({
    ...{ rdata: rdataOf(type, content), enabled, own: filled(more), extra: more },
  });
  // names come absolute, and relative in octoDNS' samples
  const name = relativeName(set.name, zone) === null ? fullName(set.name, zone) : set.name;
  const readOnly = isDynamic(set) ? 'Filters choose among its values' : undefined;
  return { name, type, ttl, values: resource_records.map(read), extra, readOnly };
}

function rdataOf(type: string, content: ApiRecord['content']): string {
  if (type === 'TXT') return txtPresentation(content.join(''));
  const [flags, tag, value] = content;
  if (type === 'CAA') return `${flags} ${tag} ${quoteBytes(Buffer.from(`${value}`))}`;
  // parameters of HTTPS and SVCB are lists (official client)
  return content.map((part) => (Array.isArray(part) ? `${part[0]}=${part.slice(1).join(',')}` : part)).join(' ');
}

function toApi(type: string, { rdata, enabled, raw }: SetMember): ApiRecord {
  const parts = type === 'TXT' ? textStrings(rdata) : (tokens(rdata) ?? []).map(({ text }) => text);
  const content = parts.map((part, i) => (i < (NUMBERS[type] ?? 0) ? Number(part) : part));
  return { ...(raw as object | undefined), content, enabled };
}
