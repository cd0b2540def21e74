import { fullName } from '../../dns/names.js';
import { fromRdata } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, orNull, ProviderError, wordsIn } from '../kit/http/errors.js';
import { allPages, nextLink } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

type Answer = { answer: (string | number)[]; id?: string; meta?: object | null; region?: string | null };
/** As the API has it: the list of a zone has `short_answers`, the set itself `answers`; names without final dot. */
type ApiSet = { domain: string; type: string; ttl: number; short_answers?: string[]; answers?: Answer[] } & Chain;
type Chain = { link?: string } & { [part in 'filters' | 'regions' | 'meta']?: object | null };
type Entry = { zone?: string; domain?: string; type?: string };

const FIELDS = typedFields();

export const connect: Connect = ({ api_key = '' }, context) => {
  const http = context.http.extend({ headers: { 'x-nsone-key': api_key }, errorMessage: wordsIn('message') });
  // pages of some 2500 (seen by octoDNS); the next one is a link
  const list = <T extends Entry>(path: string, of: (body: unknown) => unknown): Promise<T[]> =>
    allPages(idOf, async ({ next }) => {
      const query = next ? Object.fromEntries(new URL(String(next), 'https://api.nsone.net').searchParams) : {};
      const { body, headers } = await http.exchange('GET', path, { query });
      return { entries: of(body) as T[] | undefined, next: nextLink(headers.link) };
    });
  const whole = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const sets = await list<ApiSet>(pathOf(zone), (body) => (body as { records?: ApiSet[] } | null)?.records);
    // a set that the list does not tell the answers of tells them itself
    const isBare = (set: ApiSet | null) => set?.domain && set.type && !set.short_answers && !set.link;
    const read = async (set: ApiSet) => (await get(path(zone.id, set.domain, set.type)))?.[0] ?? set;
    return plainSets(await Promise.all(sets.map((set) => (isBare(set) ? read(set) : set))), plain);
  };
  const get = (address: string) => ifThere(http.get<ApiSet>(address).then((set) => [set]));
  const single = async (zone: RemoteZone, key: SetKey) => plainSets((await get(pathOf(zone, key))) ?? [], plain);

  return {
    check: async () => void (await http.get('/zones')),
    listZones: async () => (await list<{ zone: string }>('/zones', (body) => body)).map(({ zone }) => zoneOf(zone)),
    ...fromSets(whole, {
      readSets: fewOrAll(Number.POSITIVE_INFINITY, single, whole),
      async replaceSet(zone, set, was) {
        const address = pathOf(zone, set);
        if (!set.members.length) return ifThere(http.delete(address)).then(() => true);
        const own = { zone: zone.id, domain: fullName(set.host, zone.name), type: set.type, ttl: set.ttl };
        const json = { ...own, answers: set.members.map((member) => toApi(member, set, zone)) };
        // POST is taken to keep what it does not name (filters, regions, metadata): not seen documented or recorded
        const call = http.call(was.members.length ? 'POST' : 'PUT', address, { json, idempotent: true });
        return (await ifThere(call.then(() => true))) ?? false;
      },
    }),
  };
};

/** Null where the set is not there; a zone that is not there has other words (seen by octoDNS). */
const ifThere = <T>(call: Promise<T>) => orNull(call, /record not found/i);
const idOf = ({ zone, domain, type }: Entry): string => [zone, domain, type].join(' ');
const path = (...parts: string[]): string => ['/zones', ...parts.map(encodeURIComponent)].join('/');
const pathOf = (zone: RemoteZone, key?: SetKey): string =>
  path(zone.id, ...(key ? [fullName(key.host, zone.name), key.type] : []));

/** rdata of an answer, whose parts have a blank between them */
const rdataOf = (type: string, text: string) => (type === 'TXT' ? txtPresentation(text) : FIELDS.spaced(type, text));

/** Filters choose by what is kept with each answer: a value that goes and one that comes cannot share that. */
const isChosen = ({ filters, regions, meta, answers = [] }: ApiSet): boolean =>
  [filters, regions, meta, ...answers.flatMap((one) => [one.meta, one.region])].some((part) => !isEmpty(part));
const isEmpty = (part: object | string | null | undefined) => Object.keys(part ?? {}).length === 0;
const CHOSEN = 'It has filters, regions or metadata, which choose among its answers';

function plain(set: ApiSet): PlainSet {
  const { domain: name, type, ttl, short_answers: short, answers, link } = set;
  const shown = (values: PlainSet['values'], readOnly?: string) => ({ name, type, ttl, readOnly, values });
  if (link) return shown([{ rdata: `linked to ${link}` }], `It is linked to ${link}`);
  if (!answers && !short) throw cutShort('answers');
  const brief = () => (short ?? []).map((text) => ({ rdata: rdataOf(type, String(text)) }));
  const read = ({ id: _id, answer, ...own }: Answer) => ({ rdata: rdataOf(type, answer.join(' ')), own, extra: own });
  const values = answers?.map((raw) => ({ ...read(raw), raw })) ?? brief();
  return shown(values, isChosen(set) ? CHOSEN : undefined);
}

/** An answer with what else NS1 keeps with it; that of a record which is as it was read stays letter by letter. */
function toApi({ rdata, raw }: RecordSet['members'][number], { host, type, ttl }: RecordSet, zone: RemoteZone): Answer {
  const held = raw as Partial<Answer> | undefined;
  if (held?.answer && rdataOf(type, held.answer.join(' ')) === rdata) return held as Answer;
  const record = fromRdata(fullName(host, zone.name), type, rdata, ttl, zone.name);
  if (!record || record.readOnly) throw new ProviderError('rejected', `${type} ${host} holds what cannot be written`);
  refuseText(record, 'NS1', { never: [[/^$/, 'nothing in it']] }); // not taken (dnscontrol 2026)
  return { ...held, answer: Object.values(FIELDS.of(record) ?? [record.value]) };
}
