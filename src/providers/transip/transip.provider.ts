import { randomBytes } from 'node:crypto';
import { fullName, toAscii } from '../../dns/names.js';
import type { DnsRecord } from '../../dns/record.js';
import { txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { cutShort, NotBegun, ProviderError } from '../errors.js';
import { keptToken } from '../kept-token.js';
import type { Connect, RemoteZone } from '../provider.js';
import { refusing } from '../refusing.js';
import { absoluteRdata } from '../relative.js';
import { privateKeyOf, signTransip } from '../signing/transip.js';
import { refuseText } from '../texts.js';
import { fromZone } from '../whole-zone.js';

/** One value (recorded 2022): `@` at the apex, names absolute or relative, texts as they are. */
type Entry = { name: string; expire: number; type: string; content: string };
type Domain = { name: string; renewalDate?: string };

const LIFE = 1800;

export const connect: Connect = ({ login = '', private_key = '', global_key }, context) => {
  const errorMessage = (body: unknown) => (body as { error?: string } | null)?.error;
  const signed = context.http.extend({ errorMessage });
  const key = keyOf(private_key);
  const token = keptToken(async () => {
    const asked = { login, nonce: randomBytes(16).toString('hex'), read_only: false };
    // without a label, which may be used once only
    const text = JSON.stringify({ ...asked, expiration_time: '30 minutes', global_key: global_key !== 'false' });
    const headers = { 'content-type': 'application/json', signature: signTransip(text, key) };
    const answer = await signed.post<{ token?: string } | undefined>('/auth', { text, headers, reads: true });
    if (!answer?.token) throw cutShort('token');
    return { token: answer.token, seconds: LIFE };
  });
  const http = context.http.extend({
    errorMessage,
    beforeRequest: async (request) => {
      const authorization = `Bearer ${await token.get()}`;
      return { ...request, headers: { ...request.headers, authorization } };
    },
    errorKind(status) {
      if (status === 401) token.forget();
      return undefined;
    },
  });
  const find = async (name: string): Promise<Domain> => {
    const domain = (await http.get<{ domain?: Domain } | undefined>(`/domains/${encodeURIComponent(name)}`))?.domain;
    if (!domain?.name) throw cutShort('domain');
    return domain;
  };
  const { listRecords, apply } = fromZone<Entry, { entries: Entry[] }>({
    async readZone(zone) {
      const answer = await http.get<{ dnsEntries?: Entry[] } | undefined>(pathOf(zone));
      if (!Array.isArray(answer?.dnsEntries)) throw cutShort('entries');
      // texts hold no backslash there; what comes with one is escaped (seen by dnscontrol 2023)
      const plain = (e: Entry) => (e.type === 'TXT' ? { ...e, content: e.content.replace(/\\(.)/g, '$1') } : e);
      return { entries: answer.dnsEntries.map(plain) };
    },
    plain({ name, expire, type, content }, zone) {
      const rdata = type === 'TXT' ? txtPresentation(content) : absoluteRdata(type, content, zone.name);
      return { name: fullName(name, zone.name), type, ttl: expire, rdata };
    },
    entry: ({ host, type, ttl }, { rdata }) => ({
      ...{ name: host, expire: ttl, type },
      content: type === 'TXT' ? (txtFromPresentation(rdata) ?? rdata) : rdata,
    }),
    writeZone: (zone, { entries }) => http.put(pathOf(zone), { json: { dnsEntries: entries } }),
  });

  return {
    check: () => http.get('/domains'),
    async listZones() {
      const domains = (await http.get<{ domains?: Domain[] } | undefined>('/domains'))?.domains;
      if (!Array.isArray(domains)) throw cutShort('domains');
      return domains.map(remoteZone);
    },
    findZone: (name) =>
      find(name).then(remoteZone, (error) => {
        if (error instanceof ProviderError && error.kind === 'not_found') return null;
        throw error;
      }),
    async zoneInfo(zone) {
      const { renewalDate } = await find(zone.id);
      const end = /^\d{4}-\d{2}-\d{2}$/.test(renewalDate ?? '') ? `${renewalDate}T00:00:00.000Z` : null;
      return { lines: [], minTtl: null, expiresAt: end, plan: null };
    },
    listRecords,
    apply: refusing(judge, apply),
  };
};

const remoteZone = ({ name }: Domain): RemoteZone => ({ id: name, name: toAscii(name) });
const pathOf = (zone: RemoteZone): string => `/domains/${encodeURIComponent(zone.id)}/dns`;

function keyOf(pem: string) {
  try {
    return privateKeyOf(pem);
  } catch {
    throw new ProviderError('auth', 'The private key is not in PEM form', false);
  }
}

/** What cannot be held there (dnscontrol 2023); 1024 bytes by the documentation. */
function judge(record: DnsRecord) {
  const never = [[/^$/, 'no text at all'] as const, [/[\\`]/, 'a backslash or backtick'] as const];
  refuseText(record, 'TransIP', { bytes: 1024, never: [...never, [/\s$/, 'a blank at its end'] as const] });
  if (record.type === 'MX' && record.value === '.')
    throw new NotBegun('rejected', 'TransIP takes no MX without a host');
}
