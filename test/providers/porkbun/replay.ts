import { porkbun } from '../../../src/providers/porkbun/declaration.js';
import { type Asked, type Course, hostIn, type ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: string;
  name: string;
  type: string;
  content: string;
  ttl: string;
}

const RETRIEVE = '/dns/retrieve/';

/** Recorded 2024. */
export const setup: ReplaySetup = {
  definition: porkbun,
  recording: 'porkbun',
  base: '/api/json/v3',
  credentials: (endpoint) => ({ api_key: 'pk1_tests', secret_api_key: 'sk1_tests', endpoint }),
  reads: ({ path }) => /^\/(ping$|domain\/|dns\/retrieve)/.test(path),
  listed({ path }, body, zone) {
    const { records } = body as { records?: Recorded[] };
    if (!path.startsWith(RETRIEVE)) return null;
    return (records ?? []).map((r) => ({
      ...{ remoteId: r.id, type: r.type, host: hostIn(r.name, zone), value: r.content, ttl: Number(r.ttl) },
    }));
  },
  written: ({ path }, body) => String((body as { id?: number } | undefined)?.id ?? path.split('/')[4]),
};

/** A request without its keys, with its numbers as texts. */
export function withoutKeys({ body, ...asked }: Asked): Asked {
  const { apikey: _key, secretapikey: _secret, ...rest } = (body ?? {}) as Record<string, unknown>;
  const texts = Object.entries(rest).map(([key, value]) => [key, typeof value === 'number' ? `${value}` : value]);
  return { ...asked, body: texts.length ? Object.fromEntries(texts) : undefined };
}

/** The list of domains, of those whose records were given; its second page is empty. */
export function domains({ path, body }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/domain/listAll') return undefined;
  const names = scenario.interactions.flatMap(({ request, response }) => {
    const [, name] = request.url.split(RETRIEVE);
    return name && response.status < 300 ? [name] : [];
  });
  const first = Number((body as { start?: string } | undefined)?.start ?? 0) === 0;
  return { body: { status: 'SUCCESS', domains: first ? [...new Set(names)].map((domain) => ({ domain })) : [] } };
}
