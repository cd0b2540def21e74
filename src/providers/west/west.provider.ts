import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort } from '../errors.js';
import { parameters } from '../http-body.js';
import { allPages } from '../pages.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRecords, inPlace, orGone, type RecordVerbs } from '../records.js';
import { westToken } from '../signing/west.js';
import { refuseText } from '../texts.js';
import { following } from '../work.js';

/** As the API has it (dnsmgr): a host relative with `@`, texts raw, `pause` 1 where it is off, no line by default. */
type Row = Record<'id' | 'ttl' | 'level' | 'pause', number | string> &
  Record<'item' | 'type' | 'value' | 'line', string>;
type Domain = { domain: string; expdate?: string };
type List<T> = { items?: T[]; total?: number | string };
type Answer<T> = { result?: number; msg?: string; errcode?: number; data?: T };

const LINES = { LTEL: '电信', LCNC: '联通', LMOB: '移动', LEDU: '教育网', LSEO: '搜索引擎', LFOR: '境外' };
// in what encoding it takes texts is not known
const NEVER = [
  [/[^\x20-\x7e]/, 'other characters than ASCII'],
  [/^$|^\s|\s$/, 'a blank at either end, or nothing'],
] as const;

/** Failures have a status of 200 and another result (samples of lego); of their codes only 10000 is known. */
const failure = (body: unknown): string | undefined => {
  const { result = 200, msg, errcode } = (body ?? {}) as Answer<unknown>;
  return result === 200 ? undefined : `${msg} (code ${errcode ?? result})`;
};

export const connect: Connect = ({ username = '', api_password = '' }, context) => {
  const http = context.http.extend({
    charset: 'gb18030',
    sign: (request) => {
      const own = parameters(westToken(username, api_password, Date.now()));
      return { ...request, body: [request.body, `${own}`].filter(Boolean).join('&') };
    },
    failed: (body) => failure(body) !== undefined,
    errorMessage: failure,
    errorKind: (_status, body) => (/token|username|密码|身份/.test(failure(body) ?? '') ? 'auth' : undefined),
  });
  const call = async <T>(act: string, form: Record<string, string | number>, reads = false): Promise<T | undefined> => {
    const options = { query: { act }, form, reads, idempotent: act !== 'adddnsrecord' };
    const answer = await http.post<Answer<T> | undefined>('/domain/', options);
    if (answer?.result !== 200) throw cutShort('result');
    return answer.data;
  };
  const list = <T>(act: string, idOf: (entry: T) => string | number, pageName: string, given = {}): Promise<T[]> =>
    allPages(idOf, async ({ page }) => {
      const { items, total } = (await call<List<T>>(act, { ...given, limit: 100, [pageName]: page }, true)) ?? {};
      return { entries: items ?? (Number(total) === 0 ? [] : undefined), total: Number(total ?? Number.NaN) };
    });
  const domains = (given = {}): Promise<Domain[]> => list<Domain>('getdomains', (d) => d.domain, 'page', given);
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const rows = await orGone(
      () => list<Row>('getdnsrecord', (row) => row.id, 'pageno', { domain: zone.id }),
      async () => (await domains()).some(({ domain }) => domain === zone.id),
    );
    if (rows.some(({ id }) => !id || (typeof id === 'number' && !Number.isSafeInteger(id)))) throw cutShort('id');
    return rows.flatMap((row) => fromApi(row, zone.name) ?? []);
  };
  const find = async (zone: RemoteZone, { remoteId }: RemoteRecord): Promise<RemoteRecord | null> =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;
  const pause = (domain: string, id: string, enabled: boolean) => call('pause', { domain, id, val: enabled ? 0 : 1 });

  const verbs: RecordVerbs = {
    async createRecord({ id: domain }, record) {
      const { host, type, enabled } = record;
      const { id } = (await call<{ id?: number }>('adddnsrecord', { domain, host, type, ...toApi(record) })) ?? {};
      if (!Number.isSafeInteger(id)) throw cutShort('id');
      if (!enabled) await following(() => pause(domain, String(id), false));
      return String(id);
    },
    async updateRecord(zone, before, after, changed) {
      const given = toApi(after);
      // a change of these is not offered
      if (changed.has('type') || changed.has('host')) return inPlace(verbs, zone, before, after);
      const [domain, id] = [zone.id, before.remoteId];
      const toggle = () => pause(domain, id, after.enabled);
      const write = async () => {
        if (changed.size === 1 && changed.has('enabled')) return toggle();
        await call('moddnsrecord', { domain, id, ...given });
        return changed.has('enabled') ? following(toggle) : null;
      };
      await orGone(write, () => find(zone, before));
      return id;
    },
    async deleteRecord(zone, before) {
      const given = { domain: zone.id, id: before.remoteId };
      await orGone(
        () => call('deldnsrecord', given),
        () => find(zone, before),
      );
    },
    readRecord: find,
    findRecords: records,
  };
  return {
    check: async () => void (await call('getdomains', { page: 1, limit: 10 }, true)),
    listZones: async () => (await domains()).map(({ domain: id }) => ({ id, name: toAscii(id) })),
    listRecords: records,
    async zoneInfo({ id }) {
      const { expdate = '' } = (await domains({ domain: id })).find(({ domain }) => domain === id) ?? {};
      const [, year, month = '', day = ''] = /^(\d{4})[-/](\d\d?)[-/](\d\d?)/.exec(expdate) ?? [];
      const expiresAt = year ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T00:00:00+08:00` : null;
      const lines = [['default', '默认'] as const, ...Object.entries(LINES)].map(([line, name]) => ({
        id: line,
        name,
      }));
      return { lines, minTtl: null, expiresAt: expiresAt && new Date(expiresAt).toISOString(), plan: null };
    },
    apply: fromRecords(verbs),
  };
};

function fromApi({ id, item, type, value, line, ttl, level, pause }: Row, zone: string): RemoteRecord | null {
  const rdata = type === 'TXT' ? txtPresentation(value) : type === 'MX' ? `${level} ${value}` : value;
  const read = fromRdata(fullName(item || '@', zone), type, rdata, Number(ttl), zone);
  return read && { ...read, remoteId: String(id), line: line || 'default', enabled: Number(pause) !== 1 };
}

function toApi(record: DnsRecord) {
  refuseText(record, 'West.cn', { never: NEVER });
  const { value, ttl, priority, line } = record;
  return { value, ttl, level: priority ?? 10, line: line === 'default' ? '' : line };
}
