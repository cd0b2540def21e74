import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  id: string;
  zone: string;
  domain: string;
  type: string;
  ttl: number;
  answers: { answer: (string | number)[]; id?: string; meta?: object; region?: string }[];
  /** the list of the zone says nothing of the answers */
  untold?: boolean;
  filters: object[];
  link?: string;
}

const ZONE = 'contract.example';
/** how many parts an answer has, by type; those that are none of these have one */
const PARTS: Record<string, number> = { MX: 2, SRV: 4, CAA: 3, NAPTR: 6, DS: 4, TLSA: 4 };

/** What the API does (documentation, octoDNS, lexicon): sets at their own addresses, zones with short answers. */
export async function startNs1(): Promise<StandIn & { sets: StoredSet[]; most: { page: number } }> {
  const sets: StoredSet[] = [];
  const most = { page: 2500 };
  let ids = 0;
  const no = (status: number, message: string): Answer => ({ status, body: { message } });

  function wrong({ domain, type, answers }: StoredSet): string | null {
    for (const { answer } of answers) {
      if (!Array.isArray(answer) || answer.length !== (PARTS[type] ?? 1)) return `invalid number of parts for ${type}`;
      if (answer.length === 1 && answer[0] === '') return 'empty answer';
      if (['MX', 'CNAME', 'NS', 'PTR', 'ALIAS'].includes(type) && /.\.$/.test(String(answer.at(-1))))
        return 'trailing dot in answer';
      if (['MX', 'SRV'].includes(type) && typeof answer[0] !== 'number') return 'priority is no number';
    }
    // one address may be answered several times, each with settings of its own
    const texts = answers.map(({ id: _id, ...answer }) => JSON.stringify(answer));
    if (new Set(texts).size < texts.length) return 'duplicate answers';
    const beside = sets.filter((set) => set.domain === domain && set.type !== type);
    return beside.some((set) => set.type === 'CNAME' || type === 'CNAME') ? 'CNAME and other records conflict' : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers['x-nsone-key'] !== 'a-key') return no(401, 'Unauthorized');
    const page = <T>(all: T[], shown: (some: T[]) => unknown): Answer => {
      const from = Number(query.after ?? 0);
      const next = from + most.page;
      const link = `<https://api.nsone.net/v1${path}?after=${next}&limit=${most.page}>; rel="next"`;
      return { body: shown(all.slice(from, next)), headers: next < all.length ? { link } : {} };
    };
    const [, , name, domain, type] = path.split('/').map(decodeURIComponent);
    if (path === '/zones') {
      const zones = ['other.example', ZONE].map((zone, i) => ({ id: `5${i}`, zone, ttl: 3600, nx_ttl: 3600 }));
      return page(zones, (some) => some);
    }
    if (name !== ZONE) return no(404, 'zone not found');
    if (!domain) {
      const short = ({ answers, filters, untold, ...set }: StoredSet) => ({
        ...set,
        tier: filters.length ? 3 : 1,
        ...(!untold && { short_answers: answers.map(({ answer }) => answer.join(' ')) }),
      });
      return page(sets, (some) => ({ id: '51', zone: ZONE, ttl: 3600, records: some.map(short) }));
    }
    const found = sets.find((set) => set.domain === domain && set.type === type);
    if (method === 'PUT' && found) return no(400, 'record already exists');
    if (method !== 'PUT' && !found) return no(404, 'record not found');
    if (method === 'GET') return { body: found };
    if (method === 'DELETE') {
      sets.splice(sets.indexOf(found as StoredSet), 1);
      return { body: {} };
    }
    const start = { id: `id-${++ids}`, zone: ZONE, domain, type, ttl: 3600, answers: [], filters: [] };
    const made = { ...start, ...found, ...(body as object) } as StoredSet;
    if (made.domain !== domain || made.type !== type || made.zone !== ZONE)
      return no(400, 'body does not match the path');
    const why = wrong(made);
    if (why) return no(400, why);
    if (found) Object.assign(found, made);
    else sets.push(made);
    return { body: made };
  });
  return Object.assign(standIn, { sets, most });
}
