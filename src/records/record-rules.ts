import { errors } from '../common/errors.js';
import { type DnsRecord, dnsRecord, isKnownType } from '../dns/record.js';
import type { Capabilities, ProviderDefinition } from '../providers/provider.js';
import type { RecordInput, RecordPatch } from './record.dto.js';
import type { StoredRecord } from './record-cache.js';

/**
 * The specification's rule: a proxied flag that was given wins and `line` is ignored; absent, `line` is converted at a proxy-capable provider
 * (`1` proxied, `0` DNS only). Elsewhere `0` is an older word for the default line.
 */
export function proxyRule(
  capabilities: Pick<Capabilities, 'proxy'>,
  given: { proxied?: boolean | null; line?: string | null },
): { proxied?: boolean; line?: string } {
  const { proxied, line } = given;
  if (!capabilities.proxy)
    return { proxied: proxied ?? undefined, line: line === '0' ? 'default' : (line ?? undefined) };
  if (typeof proxied === 'boolean') return { proxied, line: 'default' };
  if (line === '1' || line === '0') return { proxied: line === '1', line: 'default' };
  return { line: line ?? undefined };
}

/** @throws AppError 400001 naming the field and what the provider allows */
export function assertSupported({ capabilities, label }: ProviderDefinition, record: DnsRecord): void {
  const { types, minTtl, maxTtl, automaticTtl, lines, proxy, weight } = capabilities;
  if (!types.includes(record.type)) throw errors.field('type', `${label} supports ${types.join(', ')}`);
  if (record.ttl !== automaticTtl && (record.ttl < minTtl || record.ttl > maxTtl)) {
    const automatic = automaticTtl === null ? '' : `, or ${automaticTtl} for automatic`;
    throw errors.field('ttl', `${label} supports ${minTtl} to ${maxTtl} seconds${automatic}`);
  }
  if (!lines.includes(record.line)) throw errors.field('line', `${label} supports ${lines.join(', ')}`);
  if (record.proxied && !proxy) throw errors.field('proxied', `${label} has no proxy mode`);
  if (record.proxied && !['A', 'AAAA', 'CNAME'].includes(record.type)) {
    throw errors.field('proxied', 'only A, AAAA and CNAME can be proxied');
  }
  if (record.weight !== null && !weight) throw errors.field('weight', `${label} has no weighted records`);
}

function settle(definition: ProviderDefinition, record: DnsRecord): void {
  // what the provider will answer anyway: storing another TTL would make every sync see a change
  if (record.proxied && definition.capabilities.automaticTtl !== null)
    record.ttl = definition.capabilities.automaticTtl;
  assertSupported(definition, record);
}

/** The record that a creation asks for; `defaultTtl` seconds, that of the settings, when it names none. @throws InvalidRecord */
export function newRecord(
  definition: ProviderDefinition,
  zone: string,
  input: RecordInput,
  defaultTtl?: number,
): DnsRecord {
  const host = input.host ?? input.name;
  if (host === undefined) throw errors.field('host', 'is required; use "@" for the root of the domain');
  const priority = input.priority ?? input.mx;
  const record = dnsRecord(
    { ...input, ttl: input.ttl ?? defaultTtl, host, priority, ...proxyRule(definition.capabilities, input) },
    zone,
  );
  settle(definition, record);
  return record;
}

/** A stored record with what a partial update gives; what is left out stays as it is. @throws InvalidRecord */
export function mergedRecord(
  definition: ProviderDefinition,
  zone: string,
  row: StoredRecord,
  patch: RecordPatch,
): DnsRecord {
  const type = patch.type ?? row.type;
  const sameValue = (patch.value ?? null) === null && type === row.type;
  const priority = patch.priority ?? patch.mx ?? null;
  // "10 mail" and "10 5 5060 sip" carry their own priority
  const words = (patch.value ?? '').trim().split(/\s+/).length;
  const inValue = (type === 'MX' && words === 2) || (type === 'SRV' && words === 4);
  const record = dnsRecord(
    {
      host: patch.host ?? patch.name ?? row.host,
      type,
      value: patch.value ?? row.value,
      ttl: patch.ttl ?? row.ttl,
      priority: priority ?? (inValue || type !== row.type ? null : row.priority),
      weight: patch.weight ?? row.weight,
      line: row.line,
      proxied: row.proxied,
      enabled: row.enabled,
      ...defined(proxyRule(definition.capabilities, patch)),
    },
    zone,
  );
  // a stored value is canonical: read as input once more, a TXT with outer quotes of its own would lose them
  if (sameValue) record.value = row.value;
  settle(definition, record);
  return record;
}

const defined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as Partial<T>;

/**
 * What DNS and we forbid beside the other records of the same name: the same record twice, and CNAME beside other data.
 * @param others the cached records of the name, without the record itself
 * @throws AppError 409001, 400001
 */
export function assertFits(record: DnsRecord, others: readonly StoredRecord[]): void {
  const twin = others.find((o) => o.type === record.type && o.value === record.value && o.line === record.line);
  if (twin) {
    throw errors.conflict(
      `This record exists already (id ${twin.id}${twin.enabled ? '' : ', disabled: enable it instead'})`,
    );
  }
  if (!record.enabled) return;
  const live = others.filter((o) => o.enabled && o.line === record.line);
  const clash = record.type === 'CNAME' ? live[0] : live.find((o) => o.type === 'CNAME');
  if (clash) {
    const words = `a CNAME allows no other record at its name; "${record.host}" has ${clash.type} ${clash.value} (id ${clash.id})`;
    throw errors.field('type', words);
  }
}

/** @throws AppError 400001 for records that are only shown */
export function assertEditable(row: StoredRecord): void {
  if (row.read_only || !isKnownType(row.type)) {
    throw errors.field('id', `this ${row.type} record is managed at the provider and shown read-only`);
  }
}
