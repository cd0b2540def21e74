import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { monotonicMs, sleep } from '../../platform/common/clock.js';
import { sha256 } from '../../platform/common/hash.js';
import { currentDeadline } from '../kit/http/deadline-context.js';
import { cutShort, errorHooks, NotBegun, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { cachedToken } from '../kit/http/token-cache.js';
import { fromList } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { totpOf } from '../kit/signing/totp.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';
import type { KnownSession } from '../shared-sessions.js';
import { sharedSession, type Turn, WINDOW_MS } from './shared-session.js';

/** A record (recorded 2018): names in full, targets without final dot, the preference of MX and SRV beside. */
type ApiRecord = { id: number; name: string; type: string; content: string; ttl: number; prio?: number };
type Info = { domain?: string; count?: number; record?: ApiRecord[] };
type Answer<T> = { code?: number; msg?: string; reason?: string; resData?: T } | null | undefined;
type Listed = { domain: string };

// codes (1000, 2302 and 2303 recorded 2018, the others from INWX's documentation)
const [DONE, PENDING, NOBODY, EXISTS] = [1000, 1001, 2200, 2302];
const KINDS = { auth: [NOBODY, 2201, 2202], not_found: [2303], unavailable: [0, 2500, 2501, 2502] };
/** of which fields those of the API follow; the others hold the value */
const SOURCES = { name: ['host'], ttl: ['ttl'] } as const;
const NAMES = /^(CNAME|MX|NS|PTR)$/;
/** So long a session is used, whatever INWX allows. */
const SESSION_SECONDS = 900;
/** An app may have used the code of a window: so many are tried. */
const CODES = 3;

export const connect: Connect = ({ username: user, password: pass, shared_secret, endpoint }, context) => {
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
  const opened = async (turn?: () => Promise<Turn>): Promise<KnownSession> => {
    const login = { json: { method: 'account.login', params: { user, pass } }, reads: true };
    const { headers, body } = await open.exchange<Answer<{ tfa?: string }>>('POST', '/', login);
    const cookie = [headers['set-cookie'] ?? []]
      .flat()
      .map((one) => one.split(';')[0])
      .join('; ');
    if (!cookie) throw cutShort('session');
    const own = { token: cookie, seconds: SESSION_SECONDS };
    if ((body?.resData?.tfa ?? '0') === '0') return own;
    if (!(shared_secret && turn))
      throw new ProviderError('auth', 'INWX asks for a second factor, whose secret is missing', false);
    return unlock(own, shared_secret, turn);
  };
  /** Unlocks a session, unless another process has unlocked its own meanwhile. */
  async function unlock(own: KnownSession, secret: string, turn: () => Promise<Turn>): Promise<KnownSession> {
    for (let attempt = 1; ; attempt++) {
      const mine = await turn();
      if ('session' in mine) return mine.session;
      const json = { method: 'account.unlock', params: { tan: totpOf(secret, mine.window * WINDOW_MS) } };
      try {
        await open.post('/', { json, headers: { cookie: own.token }, reads: true });
        return own;
      } catch (error) {
        if (attempt === CODES || (error as ProviderError).kind !== 'auth') throw error;
      }
    }
  }
  const keyOf = (what: string, ...more: unknown[]) =>
    sha256(JSON.stringify(['inwx', what, endpoint, user, shared_secret, ...more]));
  const session = shared_secret
    ? sharedSession(context.sessions, { session: keyOf('session', pass), codes: keyOf('codes') }, opened)
    : cachedToken(() => opened());
  const http = open.extend({
    beforeRequest: async (r) => ({ ...r, headers: { ...r.headers, cookie: await inTime(session.get()) } }),
    renews(status, body, { cookie }) {
      // the session has ended, or the password was changed; the other codes are about one object (RFC 5730)
      const ended = status === 200 && (body as Answer<unknown>)?.code === NOBODY;
      if (ended) session.forget(cookie);
      return ended;
    },
  });
  const call = async <T>(method: string, params: object, reads = true): Promise<T | undefined> =>
    (await http.post<Answer<T>>('/', { json: { method, params }, reads }))?.resData;
  async function records(zone: RemoteZone, more = {}): Promise<RemoteRecord[]> {
    const info = await call<Info>('nameserver.info', { domain: zone.id, ...more });
    const { domain, count = 0, record = [] } = info ?? {};
    // a list without entries has no length either (recorded 2018)
    if (!domain || !Array.isArray(record) || count !== record.length) throw cutShort('records');
    return readEach(record, zone.name, fromApi);
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
      // with a second factor a new session would cost the code that the others need
      if (!shared_secret) session.forget();
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
    ...fromList(records, {
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

/** A session, or at the deadline of the call the word that it comes. @throws NotBegun */
function inTime(cookie: Promise<string>): Promise<string> {
  const left = currentDeadline() - monotonicMs();
  if (!Number.isFinite(left)) return cookie;
  const late = sleep(Math.max(0, left), { idle: true }).then(() => {
    throw new NotBegun('unavailable', 'INWX takes each code of the second factor once: try again in half a minute');
  });
  return Promise.race([cookie, late]);
}

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
