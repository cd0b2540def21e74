import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { timeMs } from '../../platform/common/clock.js';
import { parameters } from '../kit/http/body.js';
import { cutShort, errorHooks, needed } from '../kit/http/errors.js';
import { allPages, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { orNoZone } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { westToken } from '../kit/signing/west.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { dayOf, linesIn, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (dnsmgr): a host relative with `@`, texts raw, `pause` 1 where it is off, no line by default. */
type Row = Record<'id' | 'ttl' | 'level' | 'pause', number | string> &
  Record<'item' | 'type' | 'value' | 'line', string>;
type Domain = { domain: string; expdate?: string };
type List<T> = { items?: T[]; total?: number | string };
type Answer<T> = { result?: number; msg?: string; errcode?: number; data?: T };

const LINES = { LTEL: '电信', LCNC: '联通', LMOB: '移动', LEDU: '教育网', LSEO: '搜索引擎', LFOR: '境外' };
// in what encoding it takes texts is not known
const NEVER = [[/^$|[^\x20-\x7e]|^\s|\s$/, 'other characters than ASCII, a blank at either end, or nothing']] as const;

/** Failures have a status of 200 and another result (samples of lego); of their codes only 10000 is known. */
const errorOf = (body: unknown) => {
  const { result = 200, msg, errcode: code = result } = (body ?? {}) as Answer<unknown>;
  return result !== 200 && { code, message: `${msg}` };
};

export const connect: Connect = ({ username = '', api_password = '' }, context) => {
  const http = context.http.extend({
    charset: 'gb18030',
    // all calls have fields of their own
    sign: (r) => ({ ...r, body: `${r.body}&${parameters(westToken(username, api_password, timeMs()))}` }),
    ...errorHooks(errorOf, { auth: [/^(token|username)|密码|身份/] }),
  });
  const call = async <T>(act: string, form: Record<string, string | number>, reads = false): Promise<T | undefined> => {
    const options = { query: { act }, form, reads, idempotent: act !== 'adddnsrecord' };
    const answer = await http.post<Answer<T> | undefined>('/domain/', options);
    if (answer?.result !== 200) throw cutShort('result');
    return answer.data;
  };
  const list = <T>(act: string, idOf: (entry: T) => string | number, pageName: string, given = {}): Promise<T[]> =>
    allPages(idOf, async ({ page }) => {
      const answer = await call<List<T>>(act, { ...given, limit: 100, [pageName]: page }, true);
      return counted(answer?.items, answer?.total);
    });
  const domains = (given = {}): Promise<Domain[]> => list<Domain>('getdomains', (d) => d.domain, 'page', given);
  const listZones = async () => (await domains()).map(({ domain }) => zoneOf(domain));
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const read = () => list<Row>('getdnsrecord', (row) => row.id, 'pageno', { domain: zone.id });
    const rows = await orNoZone(zone, read, listZones);
    return readEach(rows, zone.name, fromApi);
  };

  return {
    check: async () => void (await call('getdomains', { page: 1, limit: 10 }, true)),
    listZones,
    async zoneInfo({ id }) {
      const end = dayOf((await domains({ domain: id })).find(({ domain }) => domain === id)?.expdate, '00:00:00+08:00');
      const lines = linesIn(Object.entries({ default: '默认', ...LINES }), ([line, name]) => ({ id: line, name }));
      return zoneInfo({ lines, expiresAt: end && new Date(end).toISOString() });
    },
    ...fromList(records, {
      judge: (record) => refuseText(record, 'West.cn', { never: NEVER }),
      // a change of these is not offered
      fixed: ['type', 'host'],
      async createRecord({ id: domain }, { host, type, ...record }) {
        const made = await call<{ id?: number }>('adddnsrecord', { domain, host, type, ...toApi(record) });
        return String(needed(Number.isSafeInteger(made?.id) && made?.id, 'id'));
      },
      updateRecord: ({ id: domain }, { remoteId: id }, after) =>
        call('moddnsrecord', { domain, id, ...toApi(after) }).then(() => id),
      turn: ({ id: domain }, id, on) => call('pause', { domain, id, val: on ? 0 : 1 }),
      deleteRecord: ({ id: domain }, { remoteId: id }) => call('deldnsrecord', { domain, id }),
      ...{ vague: true, whole: true },
    }),
  };
};

function fromApi({ id, item: host, level: priority, line, pause, ...r }: Row, zone: string): RemoteRecord | null {
  return plainRecord({ ...r, id, host, priority }, zone, { line: line || 'default', enabled: Number(pause) !== 1 });
}

const toApi = ({ value, ttl, priority, line }: Omit<DnsRecord, 'host' | 'type'>) => ({
  ...{ value, ttl, level: priority ?? 10, line: line === 'default' ? '' : line },
});
