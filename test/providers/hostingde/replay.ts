import { hostingde } from '../../../src/providers/hostingde/declaration.js';
import { type Asked, hostIn, type ReplaySetup, unquoted } from '../../support/recordings.js';
import type { Answer, Scenario } from '../../support/vendor.js';
import { type Body, bodyOf } from '../differences.js';

type Recorded = { id: string; name: string; type: string; content: string; ttl: number };
type Reply = { status?: string; response?: { data?: object[]; records?: Recorded[]; zoneConfig?: object } };
const replyIn = (body: unknown) => (body ?? {}) as Reply;
const LISTS = ['recordsToAdd', 'recordsToModify', 'recordsToDelete'];

/** Recorded 2019. */
export const setup: ReplaySetup = {
  definition: hostingde,
  recording: 'hostingde',
  base: '/api/dns/v1/json',
  credentials: (endpoint) => ({ auth_token: 'a-key-for-the-tests', endpoint }),
  reads: ({ path }) => path.endsWith('Find'),
  listed({ path }, body, zone) {
    const { data, records } = replyIn(body).response ?? {};
    if (path === '/zoneConfigsFind') return null;
    return ((records ?? data ?? []) as Recorded[])
      .filter(({ type }) => type !== 'SOA')
      .map(({ id: remoteId, name, type, content, ttl }) => {
        const value = type === 'TXT' ? unquoted(content) : content;
        return { remoteId, host: hostIn(name, zone), type, value, ttl };
      });
  },
  written: (_asked, body) => replyIn(body).response?.records?.at(-1)?.id,
};

/** The zone is free when its answers are asked for: who waits meets no refusal. */
export function free(scenario: Scenario): Scenario {
  const interactions = scenario.interactions.filter(({ response }) => replyIn(response.body).status !== 'error');
  return {
    ...scenario,
    interactions: interactions.map(({ request, response }) => {
      const { response: reply, ...rest } = replyIn(response.body);
      const data = reply?.data?.map((one) => ('status' in one ? { ...one, status: 'active' } : one));
      const zoneConfig = reply?.zoneConfig && { ...reply.zoneConfig, status: 'active' };
      const body = { ...rest, response: { ...reply, ...(data && { data }), ...(zoneConfig && { zoneConfig }) } };
      return { request, response: { ...response, body } };
    }),
  };
}

/** What a request is about: of a write its lists; texts without quotes. */
export function about({ path, ...asked }: Asked): Asked {
  const body = bodyOf({ path, ...asked });
  if (path.endsWith('Find')) return { ...asked, path, body: {} };
  const plain = (one: Body) => (one.content ? { ...one, content: unquoted(`${one.content}`) } : one);
  const lists = Object.entries(body).filter(([key]) => LISTS.includes(key));
  const sent = lists.map(([key, some]) => [key, (some as Body[]).map(plain).toSorted(byId)]);
  return { ...asked, path: '/recordsUpdate', body: Object.fromEntries(sent) };
}
const byId = (a: Body, b: Body): number => `${a.id}`.localeCompare(`${b.id}`);

/** A record that is modified, as one that goes and one that comes. */
export function goneAndMade(asked: Asked): Asked[] | undefined {
  const [row] = (bodyOf(asked).recordsToModify ?? []) as Recorded[];
  if (!row) return undefined;
  const { id, name, type, content, ttl } = row;
  const write = (body: object): Asked => ({ ...asked, body });
  return [write({ recordsToDelete: [{ id }] }), write({ recordsToAdd: [{ name, type, content, ttl }] })];
}
export const last = (answers: readonly Answer[], asked: Asked): Answer | undefined =>
  bodyOf(asked).recordsToModify ? answers.at(-1) : undefined;
