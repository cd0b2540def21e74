import type { StoredRecord } from '../../cache/record-cache.js';
import { hostName, isHostname } from '../../dns/names.js';
import {
  type DnsRecord,
  dnsRecord,
  EXTRA_TYPES,
  isKnownType,
  RECORD_TYPES,
  readRecord,
  sameRecord,
  shownValue,
} from '../../dns/record.js';
import { type AppError, errors, fieldError, InvalidRecord } from '../../platform/common/errors.js';
import type { OrUndefined } from '../../platform/common/validation.js';
import { type FieldError } from '../../platform/common/words/codes.js';
import { type FieldText, say } from '../../platform/common/words/field-text.js';
import { wordsOf } from '../../platform/common/words/reasons.js';
import { clipped } from '../../platform/outbound/outbound-error.js';
import type { Capabilities, ProviderDefinition } from '../../providers/provider.js';
import { HOST_MISSING, mistakesOf, type RecordInput, type RecordPatch, type RecordView } from './record.dto.js';

/**
 * The specification's rule: a proxied flag that was given wins and `line` is ignored; absent, `line` is converted at a
 * proxy-capable provider (`1` proxied, `0` DNS only). Elsewhere `0` is an older word for the default line.
 */
export function proxyRule(
  capabilities: Pick<Capabilities, 'proxy'>,
  given: { proxied?: boolean | null | undefined; line?: string | null | undefined },
): { proxied?: boolean | undefined; line: string | undefined } {
  const { proxied, line } = given;
  if (!capabilities.proxy)
    return { proxied: proxied ?? undefined, line: line === '0' ? 'default' : (line ?? undefined) };
  if (typeof proxied === 'boolean') return { proxied, line: 'default' };
  if (line === '1' || line === '0') return { proxied: line === '1', line: 'default' };
  return { line: line ?? undefined };
}

/**
 * What the provider cannot hold, with what it can. `before`: a record that it holds already, whose TTL and line it has
 * accepted.
 */
function unsupported(
  { capabilities, label: provider }: ProviderDefinition,
  record: DnsRecord,
  before?: Pick<DnsRecord, 'ttl' | 'line'>,
): FieldError[] {
  const { types, lines, proxy, proxiedTypes, weight, apexCname, hostTargets } = capabilities;
  const wrong: FieldError[] = [];
  const add = (...error: Parameters<typeof fieldError>) => wrong.push(fieldError(...error));
  if (!types.some((type) => type === record.type)) {
    add('type', say('{provider} supports {values}', { provider, values: types.join(', ') }), 'unsupported', {
      values: types,
    });
  } else if (record.type === 'CNAME' && record.host === '@' && !apexCname) {
    add('type', 'CNAME is not allowed at the apex of a zone, beside SOA and NS; use A/AAAA or ALIAS', 'conflict');
  }
  if (hostTargets && !isHostTarget(record))
    add(
      'value',
      say('{provider} takes host names of letters, digits and inner hyphens only', { provider }),
      'unsupported',
    );
  if (record.ttl !== before?.ttl) wrong.push(...unsupportedTtl(capabilities, provider, record.ttl));
  if (record.line !== before?.line && !lines.includes(record.line)) {
    add('line', say('{provider} supports {values}', { provider, values: lines.join(', ') }), 'unsupported', {
      values: lines,
    });
  }
  if (record.proxied && !proxy) add('proxied', say('{provider} has no proxy mode', { provider }), 'unsupported');
  else if (record.proxied && !proxiedTypes.some((type) => type === record.type)) {
    add('proxied', say('only {types} can be proxied', { types: proxiedTypes.join(', ') }), 'conflict');
  }
  if (record.weight !== null && !weight)
    add('weight', say('{provider} has no weighted records', { provider }), 'unsupported');
  return wrong;
}

/** Whether the target of a record is a host name in the narrow sense, where its type names a host. */
function isHostTarget({ type, value }: DnsRecord): boolean {
  if (!/^(MX|NS|SRV)$/.test(type)) return true;
  const target = value.split(' ').at(-1) as string;
  return target === '.' || isHostname(target);
}

function unsupportedTtl(
  { minTtl: min, maxTtl: max, automaticTtl }: Capabilities,
  provider: string,
  ttl: number,
): FieldError[] {
  if (ttl === automaticTtl || (ttl >= min && ttl <= max)) return [];
  const words =
    automaticTtl === null
      ? say('{provider} supports {min} to {max} seconds', { provider, min, max })
      : say('{provider} supports {min} to {max} seconds, or {automatic} for automatic', {
          provider,
          min,
          max,
          automatic: automaticTtl,
        });
  return [fieldError('ttl', words, 'range', { min, max })];
}

/** Two words for one thing that say different things. */
function contradictions({ host, name, priority, mx }: OrUndefined<RecordPatch>, zone: string): FieldError[] {
  const wrong: FieldError[] = [];
  const both = (a: unknown, b: unknown) => (a ?? null) !== null && (b ?? null) !== null && a !== b;
  if (both(host, name) && canonicalHost(host as string, zone) !== canonicalHost(name as string, zone)) {
    wrong.push(fieldError('name', 'is another word for "host", which says something else: send one', 'conflict'));
  }
  if (both(priority, mx)) {
    wrong.push(fieldError('mx', 'is another word for "priority", which says something else: send one', 'conflict'));
  }
  return wrong;
}

/**
 * A patch without the words of older tools for a field.
 * @throws InvalidRecord where they say something else than the field
 */
export function withoutAliases(patch: RecordPatch, zone: string): RecordPatch {
  const wrong = contradictions(patch, zone);
  if (wrong.length) throw new InvalidRecord([...mistakesOf(patch, zone), ...wrong]);
  if (patch.name !== undefined) patch.host ??= patch.name;
  if (patch.mx !== undefined) patch.priority ??= patch.mx;
  delete patch.name;
  delete patch.mx;
  return patch;
}

function canonicalHost(host: string, zone: string): string {
  try {
    return hostName(host, zone);
  } catch (error) {
    if (error instanceof InvalidRecord) return host;
    throw error;
  }
}

/**
 * The record in the form that the provider will answer, when nothing is wrong with it.
 * @throws InvalidRecord naming all fields that are wrong
 */
function settled(
  definition: ProviderDefinition,
  { record, mistakes }: ReturnType<typeof readRecord>,
  more: FieldError[],
  before?: StoredRecord,
): DnsRecord {
  // what the provider will answer anyway: storing another TTL would make every sync see a change
  if (record.proxied && definition.capabilities.automaticTtl !== null)
    record.ttl = definition.capabilities.automaticTtl;
  const all = [...more, ...mistakes, ...unsupported(definition, record, before)];
  // one entry a path: what is wrong in itself comes before what the provider says of it
  const first = new Map(all.toReversed().map((e) => [e.path, e]));
  if (all.length) throw new InvalidRecord(all.filter((e) => first.get(e.path) === e));
  return record;
}

/**
 * The record that a creation asks for; `defaultTtl` seconds, that of the settings, when it names none.
 * @throws InvalidRecord
 */
export function newRecord(
  definition: ProviderDefinition,
  zone: string,
  input: OrUndefined<RecordInput>,
  defaultTtl?: number,
): DnsRecord {
  const host = input.host ?? input.name;
  const more = host === undefined ? [HOST_MISSING] : contradictions(input, zone);
  const loose = {
    ...input,
    ttl: input.ttl ?? defaultTtl,
    host: host ?? 'any',
    priority: input.priority ?? input.mx,
    ...proxyRule(definition.capabilities, input),
  };
  return settled(definition, readRecord(loose, zone), more);
}

/** A stored row as a record. */
export const plainRecord = (row: StoredRecord): DnsRecord => ({
  host: row.host,
  type: row.type,
  value: row.value,
  ttl: row.ttl,
  priority: row.priority,
  weight: row.weight,
  line: row.line,
  proxied: row.proxied,
  enabled: row.enabled,
});

/** The fields of a record that a client may change, and which field of the answer shows each. */
const SHOWN_AS: Record<string, keyof RecordView> = {
  host: 'host',
  type: 'type',
  value: 'value',
  ttl: 'ttl',
  priority: 'priority',
  weight: 'weight',
  line: 'line',
  proxied: 'proxied',
  enabled: 'enabled',
  remark: 'remark',
};

/** The fields of a patch that do not say what is shown already. Null says nothing. */
export function changesOf(patch: RecordPatch, view: RecordView): Set<string> {
  const given = Object.entries(patch).filter(([key, value]) => (value ?? null) !== null && key in SHOWN_AS);
  return new Set(given.filter(([key, value]) => value !== view[SHOWN_AS[key] as keyof RecordView]).map(([key]) => key));
}

/**
 * A stored record with what a partial update gives; what is left out, or given as it is shown, stays as it is, also
 * where a provider holds what nobody could enter.
 * @param changes see `changesOf` @throws InvalidRecord
 */
export function mergedRecord(
  definition: ProviderDefinition,
  zone: string,
  row: StoredRecord,
  patch: RecordPatch,
  changes: ReadonlySet<string>,
): DnsRecord {
  const enabled = patch.enabled ?? row.enabled;
  if (![...changes].some((key) => key !== 'enabled' && key !== 'remark')) return { ...plainRecord(row), enabled };
  const type = patch.type ?? row.type;
  const host = patch.host ?? row.host;
  const value = patch.value ?? shownValue(row);
  const sameValue = type === row.type && value === shownValue(row);
  const ttl = patch.ttl ?? row.ttl;
  const priority = patch.priority ?? null;
  const loose = {
    host,
    type,
    value,
    ttl,
    priority: priority ?? (givesPriority(row, type, value) ? null : row.priority),
    weight: patch.weight ?? row.weight,
    line: row.line,
    proxied: row.proxied,
    enabled,
    ...defined(proxyRule(definition.capabilities, patch)),
  };
  const kept = {
    host: host === row.host ? host : undefined,
    value: sameValue ? row.value : undefined,
    ttl: ttl === row.ttl ? ttl : undefined,
    priority: row.priority,
  };
  return settled(definition, readRecord(loose, zone, kept), [], row);
}

/** Whether a new value of a record says what its priority is: in its text, or by being that of a null MX. */
const givesPriority = (row: StoredRecord, type: string, value: string): boolean =>
  carriesPriority(type, value) || type !== row.type || (value !== row.value && isNullTarget(type, value));

/** Whether a value is that of a null MX (RFC 7505), whose priority is 0. */
const isNullTarget = (type: string, value: string): boolean => type === 'MX' && value.trim() === '.';

/** Whether a value as people write it holds the priority, too: `10 mail`, `10 5 5060 sip`. */
export function carriesPriority(type: string, value: string): boolean {
  const words = value.trim().split(/\s+/).length;
  return (type === 'MX' && words === 2) || (type === 'SRV' && words === 4);
}

/** How the types that would not store this value as it stands store it; `priority` where the value holds one. */
export function storedForms(text: string, zone: string): { type: string; value: string; priority: number | null }[] {
  return [...RECORD_TYPES, ...EXTRA_TYPES].flatMap((type) => {
    try {
      const { value, priority } = dnsRecord({ host: 'x', type, value: text }, zone);
      return value === text ? [] : [{ type, value, priority: carriesPriority(type, text) ? priority : null }];
    } catch (error) {
      if (error instanceof InvalidRecord) return [];
      throw error;
    }
  });
}

/** The fields that say something: null says nothing. */
export const defined = <T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => (v ?? null) !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** What a CNAME at the apex cannot stand beside where the provider flattens it: what it is flattened to. */
const FLATTENED = new Set(['A', 'AAAA', 'CNAME', 'ALIAS']);

/** 409001: the same record is there. @param shown whether the caller may know which it is */
function existing({ id, enabled }: StoredRecord, shown: boolean): AppError {
  const seen = shown ? { id } : undefined;
  const reason = enabled ? 'record_exists_as' : 'record_exists_disabled';
  const words = seen ? wordsOf('en', reason, seen) : wordsOf('en', 'record_exists');
  const more = { ...seen, errors: [fieldError('value', words as FieldText, 'duplicate', seen)] };
  return seen ? errors.conflict(reason, seen, more) : errors.conflict('record_exists', {}, more);
}

/**
 * What DNS and we forbid beside the other records of the same name: the same record twice, CNAME beside other data, two
 * DNAME (RFC 6672 section 2.4), and a null MX beside another MX (RFC 7505 section 3).
 * @param others the cached records of the name, without the record itself
 * @param mayRead whether the one who asks may see one of them: only then the answer says which it is
 * @throws AppError 409001, 400001
 */
export function assertFits(
  record: DnsRecord,
  others: readonly StoredRecord[],
  { apexCname, judgesDisabled }: Pick<Capabilities, 'apexCname' | 'judgesDisabled'>,
  mayRead: (row: StoredRecord) => boolean,
): void {
  const twin = others.find((o) => sameRecord(o, record));
  if (twin) throw existing(twin, mayRead(twin));
  if (!record.enabled && !judgesDisabled) return;
  const counts = (o: StoredRecord) => o.enabled || (judgesDisabled && o.type === record.type);
  const live = others.filter((o) => counts(o) && o.line === record.line);
  const isNull = (o: Pick<DnsRecord, 'type' | 'value'>) => isNullTarget(o.type, o.value);
  const other = live.find((o) => o.type === 'MX' && record.type === 'MX' && (isNull(o) || isNull(record)));
  if (other) {
    const words = say('a null MX (".") allows no other MX record at its name; "{host}" has one', { host: record.host });
    throw errors.field('value', words, 'conflict', mayRead(other) ? { id: other.id } : undefined);
  }
  const isAlone = (type: string) => type === 'CNAME' || (type === 'DNAME' && record.type === 'DNAME');
  const clashes = (record.type === 'CNAME' ? live : live.filter((o) => isAlone(o.type))).filter(
    (o) => !apexCname || record.host !== '@' || (FLATTENED.has(o.type) && FLATTENED.has(record.type)),
  );
  if (!clashes.length) return;
  const clash = clashes.find(mayRead);
  const words = clashWords(record.host, record.type === 'DNAME' && clashes.every((o) => o.type === 'DNAME'), clash);
  throw errors.field('type', words, 'conflict', clash && { id: clash.id });
}

/** @param clash the record in the way, where it may be seen */
function clashWords(host: string, isTwo: boolean, clash: StoredRecord | undefined): FieldText {
  if (!clash) {
    return isTwo
      ? say('a name has one DNAME; "{host}" has one that does not go with it', { host })
      : say('a CNAME allows no other record at its name; "{host}" has one that does not go with it', { host });
  }
  const other = { host, type: clash.type, value: clipped(clash.value, 100), id: clash.id };
  return isTwo
    ? say('a name has one DNAME; "{host}" has {type} {value} (id {id})', other)
    : say('a CNAME allows no other record at its name; "{host}" has {type} {value} (id {id})', other);
}

/** Whether a record is the vendor's own, and gives way to those that are made at its name. */
export const givesWay = (
  { read_only, value }: Pick<StoredRecord, 'read_only' | 'value'>,
  { yields }: Pick<Capabilities, 'yields'>,
): boolean => read_only && (yields === true || yields === value);

/** @throws AppError 400001 for records that are only shown */
export function assertEditable(row: StoredRecord): void {
  if (row.read_only || !isKnownType(row.type)) {
    const { type, read_only_reason: reason } = row;
    const words = reason
      ? say('this {type} record is managed at the provider and shown read-only: {reason}', { type, reason })
      : say('this {type} record is managed at the provider and shown read-only', { type });
    throw errors.field('id', words, 'read_only');
  }
}
