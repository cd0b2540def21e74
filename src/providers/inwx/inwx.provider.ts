import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, NotBegun, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { cachedToken } from '../kit/http/token-cache.js';
import { fromRecords } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { totpOf } from '../kit/signing/totp.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** A record (recorded 2018): names in full, targets without final dot, the preference of MX and SRV beside. */
type ApiRecord = { id: number; name: string; type: string; content: string; ttl: number; prio?: number };
type Info = { domain?: string; count?: number; record?: ApiRecord[] };
type Answer<T> = { code?: number; msg?: string; reason?: string; resData?: T } | null | undefined;
type Listed = { domain: string };

// codes (1000, 2302 and 2303 recorded 2018, the others from INWX's documentation)
const [DONE, PENDING, EXISTS] = [1000, 1001, 2302];
const KINDS = { auth: [2200, 2201, 2202], not_found: [2303], unavailable: [0, 2500, 2501, 2502] };
/** of which fields those of the API follow; the others hold the value */
const SOURCES = { name: ['host'], ttl: ['ttl'] } as const;
const NAMES = /^(CNAME|MX|NS|PTR)$/;
/** So long a session is used, whatever INWX allows. */
const SESSION_SECONDS = 900;

export const connect: Connect = ({ username: user, password: pass, shared_secret }, context) => {
  const { failed, ...said } = errorHooks((body) => {
    const { code = 0, msg = 'The answer is cut short', reason } = (body ?? {}) as NonNullable<Answer<unknown>>;
    return code === DONE || code === PENDING ? [] : [{ code, message: reason ? `${msg}: ${reason}` : msg }];
  }, KINDS);
  // INWX says all with a status of 200 (recorded 2018): another one is a gateway's, or a limit
  const hooks = {
    failed,
    errorMessage: (body: unknown) => (typeof body === 'string' ? undefined : said.errorMessage(body)),
    errorKind: (status: number, body: unknown) => (status === 200 ? said.errorKind(status, body) : undefined),
  };
  const open = context.http.extend(hooks);
  const session = cachedToken(async () => {
    const login = { json: { method: 'account.login', params: { user, pass } }, reads: true };
    const { headers, body } = await open.exchange<Answer<{ tfa?: string }>>('POST', '/', login);
    const cookie = [headers['set-cookie'] ?? []]
      .flat()
      .map((one) => one.split(';')[0])
      .join('; ');
    if (!cookie) throw cutShort('session');
    if ((body?.resData?.tfa ?? '0') !== '0') {
      if (!shared_secret)
        throw new ProviderError('auth', 'INWX asks for a second factor, whose secret is missing', false);
      const json = { method: 'account.unlock', params: { tan: totpOf(shared_secret) } };
      await open.post('/', { json, headers: { cookie }, reads: true });
    }
    return { token: cookie, seconds: SESSION_SECONDS };
  });
  const http = open.extend({
    beforeRequest: async (r) => ({ ...r, headers: { ...r.headers, cookie: await session.get() } }),
    renews(status, body) {
      // the session has ended, or the password was changed: it is logged in anew
      const refused = hooks.errorKind(status, body) === 'auth';
      if (refused) session.forget();
      return refused;
    },
  });
  const call = async <T>(method: string, params: object, reads = true): Promise<T | undefined> =>
    (await http.post<Answer<T>>('/', { json: { method, params }, reads }))?.resData;
  async function records(zone: RemoteZone, more = {}): Promise<RemoteRecord[]> {
    const info = await call<Info>('nameserver.info', { domain: zone.id, ...more });
    const { domain, count = 0, record = [] } = info ?? {};
    // a list without entries has no length either (recorded 2018)
    if (!domain || !Array.isArray(record) || count !== record.length) throw cutShort('records');
    return record.flatMap((r) => fromApi(r, zone.name) ?? []);
  }
  const write = {
    async createRecord(zone: RemoteZone, record: DnsRecord) {
      const params = { domain: zone.id, type: record.type, ...toApi(record, zone.name) };
      const made = await call<{ id?: number }>('nameserver.createRecord', params, false);
      if (!made?.id) throw cutShort('id').applied(true);
      return String(made.id);
    },
    deleteRecord: (_zone: RemoteZone, { remoteId }: RemoteRecord) =>
      call('nameserver.deleteRecord', { id: Number(remoteId) }, false),
    readRecord: async (zone: RemoteZone, { remoteId }: RemoteRecord) =>
      (await records(zone)).find((r) => r.remoteId === remoteId) ?? null,
  };

  return {
    async check() {
      session.forget();
      await call('nameserver.list', { page: 1, pagelimit: 1 });
    },
    async listZones() {
      const all = await allPages<Listed>(
        (zone) => zone.domain,
        async ({ page }) => {
          const list = await call<{ count?: number; domains?: Listed[] }>('nameserver.list', { page, pagelimit: 100 });
          return { entries: list?.domains ?? (list?.count === 0 ? [] : undefined), total: list?.count ?? Number.NaN };
        },
      );
      return all.map(({ domain }) => ({ id: domain, name: toAscii(domain) }));
    },
    listRecords: (zone) => records(zone),
    async zoneInfo(zone) {
      type Date = string | { scalar?: string };
      const found = await call<{ exDate?: Date }>('domain.info', { domain: zone.id }).catch((error) => {
        // its name servers are here, its registration is elsewhere
        if (error instanceof ProviderError && error.kind === 'not_found') return undefined;
        throw error;
      });
      const text = typeof found?.exDate === 'object' ? found.exDate.scalar : found?.exDate;
      return { lines: [], minTtl: null, expiresAt: text ? new Date(text).toISOString() : null, plan: null };
    },
    apply: fromRecords({
      ...write,
      async updateRecord(zone, before, after, changed) {
        const whole = toApi(after, zone.name);
        if (changed.has('type')) {
          if (!(await write.readRecord(zone, before)))
            throw new ProviderError('not_found', 'There is no such record', false);
          return inPlace(write, zone, before, after);
        }
        const params = { id: Number(before.remoteId), ...changedPart(whole, changed, SOURCES) };
        await call('nameserver.updateRecord', params, false);
        return before.remoteId;
      },
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
      isDuplicate: ({ message }) => message.includes(`(code ${EXISTS})`),
    }),
  };
};

function fromApi({ id, name, type, content, ttl, prio = 0 }: ApiRecord, zone: string): RemoteRecord | null {
  const rdata = type === 'TXT' ? txtPresentation(content) : /^(MX|SRV)$/.test(type) ? `${prio} ${content}` : content;
  const read = fromRdata(name, type, rdata, ttl, zone);
  return read && { ...read, remoteId: String(id) };
}

function toApi(record: DnsRecord, zone: string) {
  const { type, value, priority, ttl } = record;
  // what it does not take (dnscontrol 2021)
  const never = [
    [/^$/, 'no text at all'] as const,
    [/`/, 'backticks'] as const,
    [/\s$/, 'a blank at its end'] as const,
  ];
  refuseText(record, 'INWX', { never: [...never, [/^[\s\S]{255}$/, 'just 255 characters'] as const] });
  if (/^(MX|SRV)$/.test(type) && /(^|\s)\.$/.test(value)) throw new NotBegun('rejected', 'INWX takes no empty target');
  const content = NAMES.test(type) || /^(TXT|SRV)$/.test(type) ? value : rdataOf(record);
  return { name: fullName(record.host, zone), content, ttl, ...(priority === null ? {} : { prio: priority }) };
}
