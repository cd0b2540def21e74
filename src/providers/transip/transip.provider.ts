import { randomBytes } from 'node:crypto';
import { fullName } from '../../dns/names.js';
import type { DnsRecord } from '../../dns/record.js';
import { txtFromPresentation, txtPresentation } from '../../dns/text.js';
import { NotBegun, needed, neededList, orNull, ProviderError } from '../kit/http/errors.js';
import { cachedToken, withBearerToken } from '../kit/http/token-cache.js';
import { privateKeyOf, signTransip } from '../kit/signing/transip.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { refuseText } from '../kit/values/value-limits.js';
import { fromZone } from '../kit/zone/whole-zone.js';
import { dayOf, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect } from '../provider.js';

/** One value (recorded 2022): `@` at the apex, names absolute or relative, texts as they are. */
type Entry = { name: string; expire: number; type: string; content: string };
type Domain = { name: string; renewalDate?: string };
type Answer = { domain?: Domain; domains?: Domain[]; dnsEntries?: Entry[] } | undefined;

/** What cannot be held there (dnscontrol 2023); 1024 bytes by the documentation. */
const NEVER = [[/^$|[\\`]|\s$/, 'a backslash, a backtick, a blank at its end, or nothing']] as const;

export const connect: Connect = ({ login = '', private_key = '', global_key }, context) => {
  const signed = context.http.extend({ errorMessage: (body) => (body as { error?: string } | null)?.error });
  const key = keyOf(private_key);
  const token = cachedToken(async () => {
    const asked = { login, nonce: randomBytes(16).toString('hex'), read_only: false };
    // without a label, which may be used once only
    const text = JSON.stringify({ ...asked, expiration_time: '30 minutes', global_key: global_key !== 'false' });
    const headers = { 'content-type': 'application/json', signature: signTransip(text, key) };
    const answer = await signed.post<{ token?: string } | undefined>('/auth', { text, headers, reads: true });
    return { token: needed(answer?.token, 'token'), seconds: 1800 };
  });
  const http = signed.extend(withBearerToken(token, {}));
  const find = async (id: string): Promise<Domain> => {
    const answer = await http.get<Answer>(`/domains/${encodeURIComponent(id)}`);
    return needed(answer?.domain?.name && answer.domain, 'domain');
  };

  return {
    check: () => http.get('/domains'),
    listZones: async () =>
      neededList((await http.get<Answer>('/domains'))?.domains, 'domains').map(({ name }) => zoneOf(name)),
    findZone: (name) => orNull(find(name).then((domain) => zoneOf(domain.name))),
    zoneInfo: async ({ id }) => zoneInfo({ expiresAt: dayOf((await find(id)).renewalDate) }),
    ...fromZone<Entry, { entries: Entry[] }>({
      judge,
      async readZone(zone) {
        const answer = await http.get<Answer>(pathOf(zone));
        // texts hold no backslash there; what comes with one is escaped (seen by dnscontrol 2023)
        const text = (content: Entry['content']) => content?.replace?.(/\\(.)/g, '$1') ?? content;
        const plain = (e: Entry) => (e?.type === 'TXT' ? { ...e, content: text(e.content) } : e);
        return { entries: neededList(answer?.dnsEntries, 'entries').map(plain) };
      },
      plain({ name, expire, type, content, ...extra }, zone) {
        const rdata = type === 'TXT' ? txtPresentation(content) : absoluteRdata(type, content, zone.name);
        return { name: fullName(name, zone.name), type, ttl: expire, rdata, extra };
      },
      entry: ({ host, type, ttl }, { rdata, raw }) => ({
        ...(raw as Entry | undefined),
        ...{ name: host, expire: ttl, type },
        content: type === 'TXT' ? (txtFromPresentation(rdata) ?? rdata) : rdata,
      }),
      writeZone: (zone, { entries }) => http.put(pathOf(zone), { json: { dnsEntries: entries } }),
    }),
  };
};

const pathOf = ({ id }: { id: string }): string => `/domains/${encodeURIComponent(id)}/dns`;

function keyOf(pem: string) {
  try {
    return privateKeyOf(pem);
  } catch {
    throw new ProviderError('auth', 'The private key is not in PEM form', false);
  }
}

function judge(record: DnsRecord) {
  refuseText(record, 'TransIP', { bytes: 1024, never: NEVER });
  if (record.type === 'MX' && record.value === '.')
    throw new NotBegun('rejected', 'TransIP takes no MX without a host');
}
