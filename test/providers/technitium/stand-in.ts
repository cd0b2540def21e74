import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface TechnitiumRecord {
  name: string;
  type: string;
  ttl: number;
  rData: Record<string, unknown>;
  disabled?: boolean;
  comments?: string | undefined;
  glueRecords?: string | undefined;
}

const FIELDS: Record<string, string[]> = {
  A: ['ipAddress'],
  AAAA: ['ipAddress'],
  CNAME: ['cname'],
  NS: ['nameServer'],
  PTR: ['ptrName'],
  ANAME: ['aname'],
  TXT: ['text'],
  MX: ['preference', 'exchange'],
  SRV: ['priority', 'weight', 'port', 'target'],
  CAA: ['flags', 'tag', 'value'],
};
const NUMBERS = ['preference', 'priority', 'weight', 'port', 'flags'];
const chunks = (text: string): string[] => text.match(/[\s\S]{1,255}/g) ?? [];

/**
 * Technitium DNS Server as its documentation (2022 to 2026) and its source (2025) have it: errors with a status of 200;
 * an update takes the old value out and puts the new one in; a value with another TTL makes the others anew, with this
 * TTL, and without what else was noted of them.
 */
export async function startTechnitium(): Promise<
  StandIn & { records: TechnitiumRecord[]; world: { zones: string[]; page: number; old: boolean } }
> {
  const world = { zones: ['contract.example'], page: 100, old: false };
  const soa = { name: 'contract.example', type: 'SOA', ttl: 900, rData: { primaryNameServer: 'server1', serial: 35 } };
  const records: TechnitiumRecord[] = [soa];
  const ok = (response: object = {}): Answer => ({ body: { status: 'ok', response } });
  const no = (errorMessage: string, status = 'error'): Answer => ({
    body: { status, errorMessage, stackTrace: ' at' },
  });

  const rData = (type: string, form: URLSearchParams, prefix = ''): Record<string, unknown> => {
    const named = (field: string) => {
      const other = field === 'aname' ? 'newAName' : `new${field.charAt(0).toUpperCase()}${field.slice(1)}`;
      return (prefix && type !== 'CNAME' && form.get(other)) || form.get(field) || '';
    };
    const parts = (FIELDS[type] ?? []).map((field): [string, unknown] => {
      const text = named(field);
      if (NUMBERS.includes(field)) return [field, Number(text)];
      if (['text', 'value', 'tag'].includes(field)) return [field, text];
      return [
        field,
        type === 'AAAA' ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text.replace(/\.$/, '') || '.',
      ];
    });
    if (type !== 'TXT') return Object.fromEntries(parts);
    const given = named('text');
    const split = form.get(prefix && form.get('newText') ? 'newSplitText' : 'splitText') === 'true';
    const kept = [...given].map((c) => (c > '~' ? '?' : c)).join('');
    const characterStrings = split ? kept.split('\n') : chunks(kept);
    return { text: characterStrings.join(''), characterStrings };
  };
  const same = (a: Record<string, unknown>, b: Record<string, unknown>) => JSON.stringify(a) === JSON.stringify(b);
  function take(record: TechnitiumRecord) {
    const beside = records.filter((r) => r.name === record.name);
    if (record.type === 'CNAME' ? beside.some((r) => r.type !== 'CNAME') : beside.some((r) => r.type === 'CNAME'))
      return 'Cannot add record: a CNAME record cannot exists with other record types for the same name.';
    const set = beside.filter((r) => r.type === record.type);
    if (record.type === 'CNAME') for (const r of set) records.splice(records.indexOf(r), 1);
    else if (set.some((r) => same(r.rData, record.rData))) return null;
    else
      for (const r of set) {
        const { name, type, rData: data } = r;
        if (r.ttl !== record.ttl) records[records.indexOf(r)] = { name, type, ttl: record.ttl, rData: data };
      }
    records.push(record);
    return null;
  }

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    const form = new URLSearchParams(String(body));
    if (method !== 'POST' || !/urlencoded/.test(String(headers['content-type']))) return { status: 405 };
    if (form.get('token') !== 'a-token') return no('Invalid token or session expired.', 'invalid-token');
    if (path === '/api/zones/list') {
      const page = Number(form.get('pageNumber'));
      const size = Math.min(world.page, Number(form.get('zonesPerPage')));
      const all = [
        ...world.zones.map((name) => ({ name, type: 'Primary', internal: false, disabled: false })),
        { name: 'localhost', type: 'Primary', internal: true },
        { name: 'copied.example', type: 'Secondary' },
      ];
      if (world.old) return ok({ zones: all });
      const list = { totalPages: Math.ceil(all.length / size), totalZones: all.length, pageNumber: page };
      return ok({ ...list, zones: all.slice((page - 1) * size, page * size) });
    }
    if (path === '/api/zones/create') {
      world.zones.push(String(form.get('zone')));
      return ok({ domain: form.get('zone') });
    }
    if (path === '/api/zones/delete') {
      world.zones = world.zones.filter((one) => one !== form.get('zone'));
      return ok({});
    }
    const [zone, name, type] = [form.get('zone'), form.get('domain') ?? '', form.get('type') ?? ''];
    if (zone !== 'contract.example') return no(`No such zone was found: ${zone}`);
    if (path === '/api/zones/records/get') {
      const list = form.get('listZone') === 'true' ? records : records.filter((r) => r.name === name);
      return ok({ zone: { name: zone, type: 'Primary' }, records: list });
    }
    const old = rData(type, form);
    if (!FIELDS[type]?.every((field) => form.get(field))) return no(`Parameter '${FIELDS[type]?.[0]}' missing.`);
    const at = records.findIndex((r) => r.name === name && r.type === type && (type === 'CNAME' || same(r.rData, old)));
    if (path === '/api/zones/records/delete') {
      if (at >= 0) records.splice(at, 1);
      return ok();
    }
    const ttl = Number(form.get('ttl') ?? 3600);
    if (ttl > 604_800) return no('Failed to add record: TTL cannot be greater than SOA EXPIRE.');
    const notes = { comments: form.get('comments') ?? undefined, glueRecords: form.get('glue') ?? undefined };
    if (path === '/api/zones/records/add') {
      const why = take({ name, type, ttl, rData: old, ...notes });
      return why ? no(why) : ok({ addedRecord: { name, type, ttl, rData: old } });
    }
    if (at < 0) return no('Cannot update record: the record does not exists to be updated.');
    const [was] = records.splice(at, 1);
    const made = {
      name,
      type,
      ttl,
      rData: rData(type, form, 'new'),
      disabled: form.get('disable') === 'true',
      ...notes,
    };
    const why = take(made);
    if (why && was) records.splice(at, 0, was);
    return why ? no(why) : ok({ updatedRecord: made });
  });
  return Object.assign(standIn, { records, world });
}
