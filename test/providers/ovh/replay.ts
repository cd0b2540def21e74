import { ovh } from '../../../src/providers/ovh/declaration.js';
import { type Asked, type Course, isKnown, type ReplaySetup, unquoted } from '../../support/recordings.js';

interface Recorded {
  id: number;
  fieldType: string;
  subDomain: string;
  target: string;
  ttl: number;
}

const NAMES = ['CNAME', 'NS', 'PTR', 'MX', 'SRV'];
const TEXTS = ['TXT', 'SPF', 'DKIM', 'DMARC'];
const ONE = /\/record\/(\d+)$/;

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: ovh,
  recording: 'ovh',
  base: '/1.0',
  credentials: (endpoint) => ({
    ...{ application_key: 'an-application', application_secret: 'a-secret-for-the-tests', consumer_key: 'a-consumer' },
    ...{ region: 'eu', endpoint },
  }),
  listed({ method, path }, body, zone) {
    if (method !== 'GET' || !ONE.test(path)) return null;
    const { id, fieldType, subDomain, target, ttl } = body as Recorded;
    const type = TEXTS.includes(fieldType) ? 'TXT' : fieldType;
    // targets without a final dot are below the zone; TTL 0 is that of the zone, by default 3600
    const name = target.endsWith('.') ? target.slice(0, -1) : `${target}.${zone}`;
    const value = NAMES.includes(type) ? name.replace(/^\d+ /, '') : unquoted(target);
    return [{ remoteId: String(id), type, host: subDomain || '@', value, ttl: ttl || 3600 }];
  },
  written: ({ path }, body) => ONE.exec(path)?.[1] ?? String((body as Recorded | undefined)?.id),
};

/** The type of the record that is written: said, or known of its id. */
function typeOf({ path, body }: Asked, { known }: Course): string | undefined {
  const id = Number(ONE.exec(path)?.[1]);
  const all = known.map(({ response }) => response.body as Partial<Recorded> | null | undefined);
  return (body as Partial<Recorded>).fieldType ?? all.find((one) => one?.id === id)?.fieldType;
}

/** A recorded target as OVH means it: texts in quotes, names of hosts with their final dot. */
export function whole(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const { target, ...rest } = (asked.body ?? {}) as Partial<Recorded>;
  if (target === undefined) return asked;
  // what does not change is sent by the adapter as OVH has it
  if (whose === 'own' && !(asked.method === 'PUT' && isKnown(course, 'target', target))) return asked;
  const type = typeOf(asked, course);
  const text = type === 'TXT' && !target.startsWith('"') ? `"${target}"` : target;
  return { ...asked, body: { ...rest, target: NAMES.includes(`${type}`) ? text.replace(/\.?$/, '.') : text } };
}

/** An update without its TTL, where that is the one that the record has. */
export function withoutKnownTtl(asked: Asked, _whose: unknown, course: Course): Asked {
  const { ttl, ...rest } = (asked.body ?? {}) as Partial<Recorded>;
  return asked.method === 'PUT' && isKnown(course, 'ttl', ttl) ? { ...asked, body: rest } : asked;
}
