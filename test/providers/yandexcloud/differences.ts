import type { Asked, Difference } from '../../support/recordings.js';
import { bodyOf, unquoted, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'whole lists, by pages as large as the API allows',
    reason: 'the recorded client asked for a name and a type where it could',
    normal: (asked) => (asked.path.endsWith(':listRecordSets') ? withoutQuery(asked) : asked),
  },
  {
    what: 'the zones are listed, not asked for by id',
    reason: 'the service shows all zones of a folder; the list is made of the recorded answers for single zones',
    answer: ({ path }, { scenario }) => {
      if (path !== '/zones') return undefined;
      const bodies = scenario.interactions.map(({ response }) => response.body as { id?: string; zone?: string });
      const zones = bodies.filter(({ zone }) => zone);
      return { body: { dnsZones: [...new Map(zones.map((zone) => [zone.id, zone])).values()] } };
    },
  },
  {
    what: '`updateRecordSets` in place of `upsertRecordSets`',
    reason:
      'it refuses what is not as it was read, so that nothing is lost that others write meanwhile; names and targets are absolute, texts quoted: the recorded client wrote some names that Yandex took for relative ones',
    normal: (asked) => {
      if (!/:up\w+RecordSets$/.test(asked.path)) return asked;
      const written = yandexSets(asked);
      const deleted = ((bodyOf(asked).deletions ?? []) as YandexSet[]).map(yandexSet);
      const path = asked.path.replace(/:.*/, ':updateRecordSets');
      return { ...asked, path, body: written.length ? { written } : { deleted } };
    },
  },
  {
    what: 'sets are read before a write and after it',
    reason: 'the recorded client read none before some writes; what was not recorded is made of what was written',
    answer: ({ path, query }, { asked: all }) => {
      const known = new Map(all.flatMap(yandexSets).map((set) => [`${set.name} ${set.type}`, set]));
      const shown = (set: YandexSet) => ({ ...set, name: `${set.name}.example.com.`, ttl: `${set.ttl}` });
      if (path.endsWith(':listRecordSets'))
        return known.size ? { body: { recordSets: [...known.values()].map(shown) } } : undefined;
      if (!path.endsWith(':getRecordSet')) return undefined;
      const set = known.get(`${yandexHost(`${query.name}`)} ${query.type}`);
      return set ? { body: shown(set) } : { status: 404, body: { code: 5, message: 'RecordSet not found' } };
    },
  },
  {
    what: 'a value that is there is not written again',
    reason: 'creating what exists is a success; the recorded answer has no change in it',
    unsent: (asked, { scenario }) =>
      scenario.interactions.filter(
        ({ request }) => JSON.stringify(yandexSets({ body: request.body })) === JSON.stringify(yandexSets(asked)),
      ).length > 1 && yandexSets(asked).length > 0,
  },
];

interface YandexSet {
  name: string;
  type: string;
  ttl: string | number;
  data: string[];
}

const yandexHost = (name: string): string => name.replace(/(\.example\.com)?\.?$/, '');

/** A set for comparing: its name relative to the recorded zone, values without quotes and final dots. */
const yandexSet = ({ name, type, ttl, data }: YandexSet): YandexSet => ({
  ...{ name: yandexHost(name), type, ttl: Number(ttl) },
  data: data.map((one) => `${unquoted(one)}`.replace(/\.$/, '')),
});

/** What a change writes, as recorded, as sent, or in the form for comparing. */
const yandexSets = (asked: Pick<Asked, 'body'>): YandexSet[] => {
  const {
    replacements,
    additions = replacements,
    written = additions,
  } = (asked.body ?? {}) as Record<string, YandexSet[] | undefined>;
  return (written ?? []).map(yandexSet);
};
