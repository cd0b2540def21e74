import { generateKeyPairSync, verify } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface GoogleSet {
  name: string;
  type: string;
  ttl: number;
  rrdatas?: string[];
  routingPolicy?: object;
}

const ZONE = 'contract.example.';
const ROOT = '/projects/a-project/managedZones';
const EMAIL = 'dns@a-project.iam.gserviceaccount.com';

/** What the API and its token server do (discovery document 2021, RFC 7523): exact deletions, atomic changes. */
export async function startGooglecloud() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const state = {
    sets: [
      { name: ZONE, type: 'NS', ttl: 21600, rrdatas: ['ns-cloud-a1.googledomains.com.'] },
      {
        name: ZONE,
        type: 'SOA',
        ttl: 21600,
        rrdatas: ['ns-cloud-a1.googledomains.com. x.google.com. 1 21600 3600 259200 300'],
      },
    ] as GoogleSet[],
    page: 1000,
    /** tokens that the API takes, and for how many seconds a new one is good */
    tokens: [] as string[],
    seconds: 3599,
    asked: 0,
  };
  const no = (code: number, reason: string, message: string): Answer => ({
    status: code,
    body: { error: { code, message, errors: [{ message, domain: 'global', reason }] } },
  });

  function token(body: unknown): Answer {
    state.asked++;
    const form = new URLSearchParams(String(body));
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString() || '{}');
    const { iss, scope, aud, iat, exp } = read(claims);
    const good =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      read(header).alg === 'RS256' &&
      verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')) &&
      [iss, aud].join(' ') === `${EMAIL} https://oauth2.googleapis.com/token` &&
      /auth\/(ndev\.clouddns\.readwrite|cloud-platform)$/.test(scope) &&
      exp - iat <= 3600 &&
      Math.abs(iat - Date.now() / 1000) < 300;
    if (!good) return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
    state.tokens.push(`token-${state.asked}`);
    return { body: { access_token: `token-${state.asked}`, expires_in: state.seconds, token_type: 'Bearer' } };
  }

  const key = ({ name, type }: GoogleSet) => `${name} ${type}`;
  function change(additions: GoogleSet[], deletions: GoogleSet[]): Answer {
    const next = new Map(state.sets.map((set) => [key(set), set]));
    for (const [i, gone] of deletions.entries()) {
      const now = next.get(key(gone));
      const what = `The 'entity.change.deletions[${i}]' resource named '${gone.name} (${gone.type})'`;
      if (!now) return no(404, 'notFound', `${what} does not exist.`);
      const same = now.ttl === gone.ttl && JSON.stringify(now.rrdatas) === JSON.stringify(gone.rrdatas);
      if (!same) return no(412, 'conditionNotMet', `Precondition not met for '${what}'`);
      next.delete(key(gone));
    }
    for (const [i, set] of additions.entries()) {
      const what = `'entity.change.additions[${i}]'`;
      if (next.has(key(set))) return no(409, 'alreadyExists', `The resource ${what} already exists`);
      const texts = set.rrdatas ?? [];
      const unlike =
        !set.name.endsWith('.') ||
        !texts.length ||
        new Set(texts).size < texts.length ||
        (set.type === 'TXT' && !texts.every((text) => /^("([^"\\]|\\.){0,1020}" ?)+$/.test(text))) ||
        (/^(CNAME|NS|MX|SRV|PTR)$/.test(set.type) && !texts.every((text) => text.endsWith('.')));
      if (unlike) return no(400, 'invalid', `Invalid value for ${what}`);
      next.set(key(set), { ...set, rrdatas: texts.toSorted() });
    }
    for (const { name } of next.values()) {
      const types = [...next.values()].filter((set) => set.name === name).map((set) => set.type);
      if (types.includes('CNAME') && (types.length > 1 || (next.get(`${name} CNAME`)?.rrdatas?.length ?? 0) > 1)) {
        return no(
          400,
          'cnameResourceRecordSetConflict',
          `The resource record set '${name}' is invalid because a CNAME`,
        );
      }
    }
    if (!next.has(`${ZONE} NS`) || !next.has(`${ZONE} SOA`))
      return no(400, 'invalidZoneApex', 'The zone apex must have NS');
    state.sets = [...next.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
    return { body: { kind: 'dns#change', id: '1', status: 'pending', additions, deletions } };
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (path === '/token') return token(body);
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!state.tokens.includes(bearer)) return no(401, 'authError', 'Invalid Credentials');
    const paged = <T>(name: string, all: T[]): Answer => {
      const at = Number(query.pageToken ?? 0);
      const size = Math.min(state.page, Number(query.maxResults ?? 100));
      const end = at + size;
      const next = end < all.length ? { nextPageToken: String(end) } : {};
      return { body: { kind: `dns#${name}ListResponse`, [name]: all.slice(at, end), ...next } };
    };
    if (path === ROOT) {
      const zones = [
        { kind: 'dns#managedZone', id: '7', name: 'inner', dnsName: ZONE, visibility: 'private' },
        { kind: 'dns#managedZone', id: '5511111111111111111', name: 'outer', dnsName: ZONE, visibility: 'public' },
        { kind: 'dns#managedZone', id: '9', name: 'other', dnsName: 'other.example.' },
      ];
      return paged(
        'managedZones',
        zones.filter((zone) => !query.dnsName || zone.dnsName === query.dnsName),
      );
    }
    const [, zone, rest] = /^\/managedZones\/([^/]+)\/(.+)$/.exec(path.slice('/projects/a-project'.length)) ?? [];
    if (zone !== '5511111111111111111' && zone !== 'outer') {
      return no(404, 'notFound', `The 'parameters.managedZone' resource named '${zone}' does not exist.`);
    }
    if (method === 'GET' && rest === 'rrsets') {
      const hit = (set: GoogleSet) =>
        (!query.name || set.name === query.name) && (!query.type || set.type === query.type);
      return paged('rrsets', state.sets.filter(hit));
    }
    const { additions = [], deletions = [] } = body as { additions?: GoogleSet[]; deletions?: GoogleSet[] };
    return change(additions, deletions);
  });
  const account = JSON.stringify({
    ...{ type: 'service_account', project_id: 'a-project', client_email: EMAIL },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  });
  return Object.assign(standIn, { state, account });
}
