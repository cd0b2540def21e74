import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { quoteBytes, tokens, txtFromInput, txtPresentation } from '../../dns/text.js';
import { ProviderError } from '../errors.js';

/**
 * Types that are written. NAPTR and LOC are shown only: how their text and their `data` escape and round is not
 * documented.
 */
export const TYPES = [
  ...['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA'],
  ...['SVCB', 'HTTPS', 'TLSA', 'SSHFP', 'DS', 'PTR', 'URI'],
];
const PROXIED_TYPES = ['A', 'AAAA', 'CNAME'];
/** "automatic" (OpenAPI); proxied records have no other */
const AUTOMATIC_TTL = 1;

/** A record as the API answers it (recorded 2025; OpenAPI). */
export interface ApiRecord {
  id: string;
  /** full name without final dot; IDN zones may come in Unicode */
  name: string;
  type: string;
  /** absent in some answers that have `data` */
  content?: string;
  data?: Record<string, string | number>;
  priority?: number;
  proxied?: boolean;
  /** seconds; 1 is "automatic" */
  ttl: number;
  locked?: boolean;
  meta?: { read_only?: boolean; email_routing?: boolean };
}

/** rdata in presentation form of what the API answered. */
function rdata(record: ApiRecord): string {
  const { type, data: d = {}, content = '' } = record;
  const has = (...keys: string[]) => keys.every((key) => d[key] !== undefined);
  const quoted = (key: string) => quoteBytes(Buffer.from(String(d[key]), 'utf8'));
  if (type === 'TXT') return txtPresentation(txtFromInput(content));
  if (type === 'MX') return `${record.priority ?? 0} ${content}`;
  // the `content` of SRV comes in several forms, that of CAA with and without quotes: `data` is exact
  if (type === 'SRV' && has('weight', 'port', 'target')) {
    return `${d.priority ?? record.priority ?? 0} ${d.weight} ${d.port} ${d.target}`;
  }
  if (type === 'CAA' && has('flags', 'tag', 'value')) return `${d.flags} ${d.tag} ${quoted('value')}`;
  if (type === 'URI' && has('weight', 'target'))
    return `${record.priority ?? d.priority ?? 0} ${d.weight} ${quoted('target')}`;
  return content;
}

/** A record as the service has it, or null for what Cloudflare manages itself. The TTL 1 ("automatic") stays 1. */
export function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const canonical = fromRdata(record.name, record.type, rdata(record), record.ttl, zone);
  if (!canonical) return null;
  const managed = record.locked || record.meta?.read_only || record.meta?.email_routing;
  return {
    ...canonical,
    remoteId: record.id,
    proxied: record.proxied ?? false,
    readOnly: canonical.readOnly || Boolean(managed) || !TYPES.includes(record.type),
  };
}

/**
 * The body that creates or changes a record (OpenAPI). TXT is sent quoted and split, so that any text arrives as it is.
 * @throws ProviderError `rejected` for a proxied record of a type that has no proxy
 */
export function toApi(record: DnsRecord, zone: string): object {
  const { type, value, priority, proxied } = record;
  const proxiable = PROXIED_TYPES.includes(type);
  if (proxied && !proxiable) {
    throw new ProviderError('rejected', `Cloudflare can proxy ${PROXIED_TYPES.join(', ')} only, not ${type}`);
  }
  return {
    type,
    name: fullName(record.host, zone),
    ttl: proxied ? AUTOMATIC_TTL : record.ttl,
    ...(proxiable ? { proxied } : {}),
    ...content(type, value, priority),
  };
}

function content(type: string, value: string, priority: number | null): object {
  const words = value.split(' ');
  const number = (i: number) => Number(words[i]);
  const quoted = (i: number) => tokens(value)?.[i]?.text ?? '';
  switch (type) {
    case 'TXT':
      return { content: txtPresentation(value) };
    case 'MX':
      return { content: value, priority };
    case 'SRV':
      return { data: { priority, weight: number(0), port: number(1), target: words[2] } };
    case 'CAA':
      return { data: { flags: number(0), tag: words[1], value: quoted(2) } };
    case 'URI':
      return { priority: number(0), data: { weight: number(1), target: quoted(2) } };
    case 'SVCB':
    case 'HTTPS':
      return { data: { priority: number(0), target: words[1], value: words.slice(2).join(' ') } };
    case 'TLSA':
      return { data: { usage: number(0), selector: number(1), matching_type: number(2), certificate: words[3] } };
    case 'SSHFP':
      return { data: { algorithm: number(0), type: number(1), fingerprint: words[2] } };
    case 'DS':
      return { data: { key_tag: number(0), algorithm: number(1), digest_type: number(2), digest: words[3] } };
    default:
      return { content: value };
  }
}
