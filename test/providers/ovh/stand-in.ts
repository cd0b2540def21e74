import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface Stored {
  id: number;
  fieldType: string;
  subDomain: string;
  target: string;
  ttl: number;
  zone: string;
}

/** The clock of the stand-in is so many seconds ahead of ours. */
const AHEAD = 7200;
const ZONE = 'contract.example';

/**
 * What the API does (traffic of 2018; error codes as the public clients expect them): ids in a list, a record a call,
 * identical records side by side, and nothing in DNS before a refresh.
 */
export async function startOvh(): Promise<StandIn & { stored: Stored[]; live: Stored[] }> {
  const stored: Stored[] = [];
  const live: Stored[] = [];
  let ids = 1553644693;
  const no = (status: number, errorCode: string, message: string): Answer => ({
    status,
    body: { message, errorCode, httpCode: `${status} ${errorCode}` },
  });
  const absent = no(404, 'NOT_FOUND', 'The requested object (record) does not exist');
  const clash = ({ subDomain, fieldType, id }: Omit<Stored, 'zone'>): boolean => {
    const beside = stored.filter((other) => other.subDomain === subDomain && other.id !== id);
    return beside.some((other) => (fieldType === 'CNAME') !== (other.fieldType === 'CNAME') || fieldType === 'CNAME');
  };
  const wrong = ({ fieldType, target }: Stored): boolean =>
    target === '' ||
    (fieldType === 'TXT' && target.startsWith('"') && target.split(/" "/).some((s) => s.length > 1100));
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const now = Math.floor(Date.now() / 1000) + AHEAD;
    if (path === '/auth/time') return { body: String(now), headers: { 'content-type': 'application/json' } };
    if (headers['x-ovh-application'] !== 'an-application')
      return no(403, 'INVALID_KEY', 'This application key is invalid');
    if (headers['x-ovh-consumer'] !== 'a-consumer-key')
      return no(403, 'INVALID_CREDENTIAL', 'This credential does not exist');
    if (!/^\$1\$[0-9a-f]{40}$/.test(String(headers['x-ovh-signature'])))
      return no(400, 'INVALID_SIGNATURE', 'Invalid signature');
    if (Math.abs(Number(headers['x-ovh-timestamp']) - now) > 300) return no(400, 'QUERY_TIME_OUT', 'Query out of time');
    if (path === '/domain/zone') return { body: ['other.example', ZONE] };
    const [, , , name, what, id] = path.split('/');
    if (name !== ZONE) return no(404, 'NOT_FOUND', 'This service does not exist');
    if (what === 'refresh' && method === 'POST') {
      live.splice(0, live.length, ...structuredClone(stored));
      return { body: 'null', headers: { 'content-type': 'application/json' } };
    }
    if (what !== 'record') return no(404, 'NOT_FOUND', 'Got an invalid (or empty) URL');
    if (id === undefined && method === 'GET') {
      const { subDomain, fieldType } = query;
      const hits = stored.filter(
        (r) => (subDomain ?? r.subDomain) === r.subDomain && (fieldType ?? r.fieldType) === r.fieldType,
      );
      return { body: hits.map((r) => r.id) };
    }
    const found = stored.find((r) => String(r.id) === id);
    if (id !== undefined && !found) return absent;
    if (method === 'GET') return { body: found };
    if (method === 'DELETE') {
      stored.splice(stored.indexOf(found as Stored), 1);
      return { body: 'null', headers: { 'content-type': 'application/json' } };
    }
    const given = body as Stored;
    if (found && 'fieldType' in given) return no(400, 'BAD_REQUEST', 'Invalid field fieldType given');
    const made: Stored = Object.assign({ ttl: 0, subDomain: '' }, found, given, { zone: ZONE, id: found?.id ?? ids++ });
    if (made.ttl !== 0 && made.ttl < 60) return no(400, 'BAD_REQUEST', 'Invalid ttl: 60 at least');
    if (wrong(made)) return no(400, 'BAD_REQUEST', 'Invalid target');
    if (clash(made)) return no(400, 'BAD_REQUEST', `A CNAME cannot be beside other records: ${made.subDomain}`);
    if (!found) {
      stored.push(made);
      return { body: made };
    }
    stored[stored.indexOf(found)] = made;
    return { body: 'null', headers: { 'content-type': 'application/json' } };
  });
  return Object.assign(standIn, { stored, live });
}
