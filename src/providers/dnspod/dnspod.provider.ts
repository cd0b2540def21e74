import { absolute, fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, orNull, type VendorError } from '../kit/http/errors.js';
import type { CallOptions } from '../kit/http/http-client.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot, refuseText, textOrStrings } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2016): texts all, no id of the line then; `Record.Info` has other names. */
type Name = 'name' | 'type' | 'line' | 'line_id' | 'sub_domain' | 'record_type' | 'record_line' | 'record_line_id';
type ApiRecord = Record<'id' | 'ttl' | 'value' | 'mx' | 'enabled', string> & {
  [key in Name | 'remark' | 'hold']?: string;
} & {
  weight?: string | null;
};
type ApiZone = { name: string; punycode?: string; grade?: string; grade_title?: string };
type Answer = { status?: { code: string; message: string }; record?: ApiRecord; records?: ApiRecord[] } & {
  info?: { record_total?: string | number; domain_total?: string | number };
  domain?: ApiZone;
  domains?: ApiZone[];
  line_ids?: Record<string, string | number>;
};

// 10002 recorded 2018, 13 (no such zone) 2016; the others documented: 8 is no such record
const KINDS = {
  auth: ['-1', '-3', '-4', '-7', '-8', '7', '83', '85', '10001', '10002', '10003', '10004'],
  ...{ not_found: ['13', '8'], rate_limit: ['-2'], unavailable: ['-99', '3'] },
};
const EXISTS = /\(code (104|31)\)/;
const TEXTS = { never: [[/^$/, 'nothing in it']] } as const;

/** All answers have HTTP 200 (recorded). */
function errorsOf(body: unknown): VendorError[] {
  const { status } = (body ?? {}) as Answer;
  return status && String(status.code) !== '1' ? [{ code: String(status.code), message: status.message }] : [];
}

export const connect: Connect = ({ id, token }, context) => {
  const http = context.http.extend(errorHooks(errorsOf, KINDS));
  const login = { login_token: `${id},${token}`, format: 'json', lang: 'en', error_on_empty: 'no' };
  async function call(action: string, form: object, more: CallOptions = { reads: true }): Promise<Answer> {
    const answer = await http.post<Answer | undefined>(`/${action}`, { form: { ...login, ...form }, ...more });
    if (!answer?.status) throw cutShort('status');
    return answer;
  }
  const write = (action: string, form: object) => call(action, form, { idempotent: true });
  const records = async ({ id: domain, name }: RemoteZone): Promise<RemoteRecord[]> => {
    const all = await allPages<ApiRecord>(getId, async ({ offset }) => {
      const answer = await call('Record.List', { domain, offset, length: 3000 }).catch(noRecords);
      return { entries: answer.records, total: Number(answer.info?.record_total) };
    });
    return readEach(all, name, fromApi);
  };

  return {
    check: async () => void (await call('Domain.List', { length: 1 })),
    async listZones() {
      const all = await allPages<ApiZone>(getName, async ({ offset }) => {
        const { domains, info } = await call('Domain.List', { type: 'all', offset, length: 3000 });
        return { entries: domains, total: Number(info?.domain_total) };
      });
      return all.map(toZone);
    },
    async findZone(name) {
      const { domain } = (await orNull(call('Domain.Info', { domain: name }))) ?? {};
      return domain && toZone(domain).name === name ? toZone(domain) : null;
    },
    async zoneInfo({ id: domain }) {
      const { grade: domain_grade, grade_title: plan = null } = (await call('Domain.Info', { domain })).domain ?? {};
      const { line_ids = {} } = await call('Record.Line', { domain, domain_grade });
      const lines = Object.entries(line_ids).map(([name, line]) => ({ id: lineOf(String(line), name), name }));
      return { lines, minTtl: null, expiresAt: null, plan };
    },
    ...fromList(records, {
      ...{ whole: true, apart: ['enabled'], doubles: 'TXT' as const },
      async createRecord({ id: domain }, record) {
        const { record: made } = await call('Record.Create', { domain, ...toApi(record) }, {});
        if (!made) throw cutShort('record');
        return String(made.id);
      },
      async updateRecord({ id: domain }, { remoteId: record_id }, after, changed) {
        const only = changed.has('enabled') && [...changed].every((field) => /^(enabled|remark)$/.test(field));
        if (only) await write('Record.Status', { domain, record_id, status: statusOf(after) });
        else await write('Record.Modify', { domain, record_id, ...toApi(after) });
        return record_id;
      },
      note: ({ id: domain }, record_id, remark) => write('Record.Remark', { domain, record_id, remark }),
      deleteRecord: ({ id: domain }, { remoteId: record_id }) => write('Record.Remove', { domain, record_id }),
      async readRecord({ id: domain, name }, { remoteId: record_id }) {
        const { record } = await call('Record.Info', { domain, record_id });
        return record ? fromApi(record, name) : null;
      },
      isDuplicate: (error) => EXISTS.test(error.message),
    }),
  };
};

const getId = (record: ApiRecord): string => String(record.id);
const getName = (zone: ApiZone): string => zone.name;
const toZone = ({ name: id, punycode }: ApiZone): RemoteZone => ({ id, name: toAscii(punycode || id) });
const statusOf = (record: DnsRecord): string => (record.enabled ? 'enable' : 'disable');
/** A line of the user's own making has a name alone. */
const lineOf = (id: string, name: string): string => (id === '0' || (!id && name === '默认') ? 'default' : id || name);

/** A zone without records is told so by an error, where it is not asked otherwise. */
function noRecords(error: Error): Answer {
  if (error.message.includes('(code 10)')) return { records: [], info: { record_total: 0 } };
  throw error;
}

function fromApi(r: ApiRecord, zone: string): RemoteRecord | null {
  const { name = r.sub_domain ?? '', type = r.record_type ?? '', line = r.record_line ?? '', value, remark } = r;
  const rdata = type === 'TXT' ? txtPresentation(txtFromInput(value)) : type === 'MX' ? `${r.mx} ${value}` : value;
  const read = fromRdata(fullName(name, zone), type, rdata, Number(r.ttl), zone);
  const weight = r.weight === undefined || r.weight === null || r.weight === '' ? null : Number(r.weight);
  const more = { weight, line: lineOf(r.line_id ?? r.record_line_id ?? '', line), enabled: String(r.enabled) !== '0' };
  // what is on hold are the vendor's own NS (recorded 2016)
  const readOnly = read?.readOnly || r.hold === 'hold';
  return read && { ...read, ...more, remoteId: String(r.id), remark: remark || '', readOnly };
}

/** All that a record has besides its remark: what is left out becomes the default. */
function toApi(record: DnsRecord): object {
  const { host: sub_domain, type: record_type, value: text, priority, ttl, weight, line } = record;
  refuseText(record, 'DNSPod', TEXTS);
  // the MX is refused by the vendor, as dnscontrol has it; of the SRV its versions differ
  refuseRoot(record, 'DNSPod');
  const value = record_type === 'TXT' ? textOrStrings(text) : record_type === 'MX' ? absolute(text) : rdataOf(record);
  const id = line === 'default' ? '0' : /=/.test(line) ? line : undefined;
  const routed = id ? { record_line_id: id } : { record_line: line };
  const mx = record_type === 'MX' ? priority : undefined;
  return { sub_domain, record_type, value, ttl, mx, ...routed, weight: weight ?? undefined, status: statusOf(record) };
}
