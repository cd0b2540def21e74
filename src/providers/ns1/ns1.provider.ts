import { fullName, toAscii } from '../../dns/names.js';
import { fromRdata } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, ProviderError } from '../kit/http/errors.js';
import { allPages, nextLink } from '../kit/http/pages.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

type Answer = { answer: (string | number)[] };
/** As the API has it: the list of a zone has `short_answers`, the set itself `answers`; names without final dot. */
type ApiSet = { domain: string; type: string; ttl: number } & { short_answers?: string[]; answers?: Answer[] } & Link;
type Link = { link?: string };
type ApiZone = { zone: string };
type Entry = { zone?: string; domain?: string; type?: string };

const FIELDS = typedFields();

export const connect: Connect = ({ api_key = '' }, context) => {
  const http = context.http.extend({
    headers: { 'x-nsone-key': api_key },
    errorMessage: (body) => (body as { message?: string } | null)?.message,
  });
  // pages of some 2500 (seen by octoDNS); the next one is a link
  const list = <T extends Entry>(path: string, of: (body: unknown) => unknown): Promise<T[]> =>
    allPages(idOf, async ({ next }) => {
      const query = next ? Object.fromEntries(new URL(String(next), 'https://api.nsone.net').searchParams) : {};
      const { body, headers } = await http.exchange('GET', path, { query });
      return { entries: of(body) as T[] | undefined, next: nextLink(headers.link) };
    });
  const single = async (zone: RemoteZone, key: SetKey): Promise<PlainSet[]> =>
    plainSets([await http.get<ApiSet>(pathOf(zone, key))], plain);

  return {
    check: async () => void (await http.get('/zones')),
    listZones: async () =>
      (await list<ApiZone>('/zones', (body) => body)).map(({ zone }) => ({ id: zone, name: toAscii(zone) })),
    async listRecords(zone) {
      const sets = await list<ApiSet>(pathOf(zone), (body) => (body as { records?: ApiSet[] } | null)?.records);
      return recordsIn(plainSets(sets, plain), zone.name);
    },
    apply: fromRrsets({
      async readSets(zone, keys) {
        const found = await Promise.all(keys.map((key) => absent(single(zone, key), [])));
        return setsAt(keys, found.flat(), zone.name);
      },
      async replaceSet(zone, set, was) {
        if (was.raw) throw new ProviderError('rejected', `${set.type} ${set.host} is linked`, false);
        const path = pathOf(zone, set);
        if (!set.members.length) return absent(http.delete(path).then(yes), true);
        const own = { zone: zone.id, domain: fullName(set.host, zone.name), type: set.type, ttl: set.ttl };
        const json = { ...own, answers: set.members.map((member) => toApi(member, set, zone)) };
        // POST is taken to keep what it does not name (filters, regions, metadata): not seen documented or recorded
        const call = http.call(was.members.length ? 'POST' : 'PUT', path, { json, idempotent: true });
        return absent(call.then(yes), false);
      },
    }),
  };
};

const yes = () => true;
const idOf = ({ zone, domain, type }: Entry): string => [zone, domain, type].join(' ');
const pathOf = (zone: RemoteZone, key?: SetKey): string =>
  ['/zones', ...[zone.id, ...(key ? [fullName(key.host, zone.name), key.type] : [])].map(encodeURIComponent)].join('/');

/** What to take for a set that is not there; a zone that is not there has other words (seen by octoDNS). */
const absent = <T>(call: Promise<T>, otherwise: T): Promise<T> =>
  call.catch((error) => {
    if (error.kind === 'not_found' && /record not found/i.test(error.message)) return otherwise;
    throw error;
  });

/** rdata of an answer, whose parts have a blank between them */
const rdataOf = (type: string, text: string) => (type === 'TXT' ? txtPresentation(text) : FIELDS.spaced(type, text));

function plain({ domain: name, type, ttl, short_answers: short, answers, link }: ApiSet): PlainSet {
  if (link) return { name, type, ttl, raw: true, readOnly: true, values: [{ rdata: `linked to ${link}` }] };
  const values = answers?.map((raw) => ({ rdata: rdataOf(type, raw.answer.join(' ')), raw }));
  if (!values && !short) throw cutShort('answers');
  return { name, type, ttl, values: values ?? (short ?? []).map((text) => ({ rdata: rdataOf(type, String(text)) })) };
}

/** An answer with what else NS1 keeps with it; that of a record which is as it was read stays letter by letter. */
function toApi({ rdata, raw }: RecordSet['members'][number], { host, type, ttl }: RecordSet, zone: RemoteZone): Answer {
  const held = raw as Answer | undefined;
  if (held && rdataOf(type, held.answer.join(' ')) === rdata) return held;
  const record = fromRdata(fullName(host, zone.name), type, rdata, ttl, zone.name);
  if (!record || record.readOnly) throw new ProviderError('rejected', `${type} ${host} holds what cannot be written`);
  refuseText(record, 'NS1', { never: [[/^$/, 'nothing in it']] }); // not taken (dnscontrol 2026)
  return { ...held, answer: Object.values(FIELDS.of(record) ?? [record.value]) };
}
