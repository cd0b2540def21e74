import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type StoredSpaceship = { type: string; name: string; ttl: number; group: { type: string } } & Record<
  string,
  unknown
>;

/** Fields that a type has; those after the bar are no part of what a record is known by. */
const FIELDS: Record<string, string> = {
  A: 'address',
  AAAA: 'address',
  ALIAS: 'aliasName',
  CAA: 'flag tag value',
  CNAME: 'cname',
  MX: 'exchange preference',
  NS: 'nameserver',
  PTR: 'pointer',
  SRV: 'service protocol priority weight | port target',
  TXT: 'value',
};

/** What the API does (the vendor's Terraform provider, samples of lego): no ids, a record is named by its fields. */
export async function startSpaceship(): Promise<
  StandIn & { records: StoredSpaceship[]; domains: string[]; most: { page: number } }
> {
  const zone = 'contract.example';
  const domains = [zone];
  const records: StoredSpaceship[] = [];
  const most = { page: 500 };
  const no = (status: number, detail: string, field?: string, details?: string): Answer => ({
    status,
    body: { detail, ...(field && { data: [{ field, details }] }) },
  });
  const key = (item: Record<string, unknown>): string => {
    const [own = ''] = (FIELDS[String(item.type)] ?? '').split(' |');
    const values = own.split(' ').map((name) => String(item[name]));
    const text = item.type === 'TXT' ? values.join('|') : values.join('|').toLowerCase();
    return `${item.type}|${String(item.name).toLowerCase()}|${text}`;
  };
  /** What is wrong with a record, as field and words. */
  function wrong(item: Record<string, unknown>): [string, string] | null {
    const fields = FIELDS[String(item.type)]?.replace('| ', '').split(' ');
    if (!fields) return ['type', 'The record type is not supported'];
    if (!item.name || String(item.name).endsWith('.')) return ['name', 'The name contains invalid characters'];
    for (const field of fields) {
      const value = item[field];
      if (value === undefined || (typeof value === 'string' && !value.trim()))
        return [field, 'Value field is required'];
      const named = ['aliasName', 'cname', 'exchange', 'nameserver', 'pointer', 'target'].includes(field);
      if (named && String(value).endsWith('.')) return [field, 'The value contains invalid characters'];
      if (/^(flag|preference|priority|weight|port)$/.test(field) && typeof value !== 'number')
        return [field, 'must be a number'];
    }
    if (item.type === 'NS' && item.name === '@') return ['name', 'The record cannot be changed'];
    if (item.type === 'SRV' && item.port === 0) return ['port', 'must be between 1 and 65535'];
    const unknown = Object.keys(item).find((name) => !['type', 'name', 'ttl', ...fields].includes(name));
    return unknown ? [unknown, 'is not allowed'] : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers['x-api-key'] !== 'a-key' || headers['x-api-secret'] !== 'a-secret')
      return no(401, 'The API key or secret is wrong');
    const page = <T>(all: T[], max: number): Answer => {
      const [take, skip] = [Number(query.take), Number(query.skip)];
      if (!(take >= 1 && take <= max) || !(skip >= 0)) return no(422, 'Invalid paging');
      return { body: { items: all.slice(skip, skip + Math.min(take, most.page)), total: all.length } };
    };
    if (path === '/domains')
      return page(
        domains.map((name) => ({ name, unicodeName: name, expirationDate: '2027-02-13T00:36:30.000Z' })),
        100,
      );
    if (path !== `/dns/records/${zone}`) return no(404, 'Domain is not found');
    if (method === 'GET') return page(records, 500);
    if (method === 'DELETE') {
      const keys = (body as Record<string, unknown>[]).map(key);
      const found = records.filter((r) => keys.includes(key(r)));
      if (found.length < keys.length) return no(404, 'Record is not found');
      for (const record of found) records.splice(records.indexOf(record), 1);
      return { status: 204 };
    }
    if (method !== 'PUT') return { status: 405 };
    const { force, items } = body as { force?: boolean; items: Record<string, unknown>[] };
    for (const item of items) {
      const why = wrong(item);
      if (why) return no(422, 'Validation failed', ...why);
      if (!(Number(item.ttl) >= 60 && Number(item.ttl) <= 3600))
        return no(422, 'Validation failed', 'ttl', '60 to 3600');
      const others = records.filter((r) => r.name === item.name && key(r) !== key(item));
      const clash = item.type === 'CNAME' ? others : others.filter((r) => r.type === 'CNAME');
      if (clash.length && !force) return no(422, 'Conflicting records', 'items', 'CNAME beside others');
      for (const record of clash) records.splice(records.indexOf(record), 1);
      const at = records.findIndex((r) => key(r) === key(item));
      const kept = item.type === 'TXT' ? { value: String(item.value).trimEnd() } : {};
      const made = { ...item, ...kept, group: { type: 'custom' } } as unknown as StoredSpaceship;
      if (at >= 0) records[at] = made;
      else records.push(made);
    }
    return { status: 204 };
  });
  return Object.assign(standIn, { records, domains, most });
}
