import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Cidr, inCidrs, parseCidr } from '../common/cidr.js';
import { bySystem } from './lookup.js';
import { OutboundError } from './outbound-error.js';

const NEVER = new Set(['linkLocal', 'unspecified', 'multicast', 'broadcast']);

/**
 * Cloud metadata addresses that are not link-local: Alibaba, Azure, Oracle (classic), AWS (IMDS, EKS), Google,
 * Scaleway, Oracle.
 */
const METADATA = [
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
  'fd00:c1::a9fe:a9fe',
].map(parseCidr);

/** Ranges of public addresses; NAT64 is checked by the embedded IPv4 address. */
const PUBLIC = new Set(['unicast', 'rfc6052']);
const GLOBAL_IPV6 = ['2000::/3', '64:ff9b::/96'].map(parseCidr);

const isPublic = (address: string): boolean =>
  PUBLIC.has(ipaddr.process(address).range()) &&
  (ipaddr.process(address).kind() === 'ipv4' || inCidrs(address, GLOBAL_IPV6));

/**
 * Whether connecting to an address is allowed: never for link-local, unspecified, cloud metadata and denied ones, also
 * when embedded in IPv6.
 * @param allow omitted for what administrators configure (providers, identity providers, mail and DNS servers): private
 *   and loopback addresses are allowed. Given, even empty, for what users configure (webhooks, health checks): only
 *   public addresses and those listed. The same holds for every function of this folder.
 */
export function mayConnect(address: string, deny: readonly Cidr[], allow?: readonly Cidr[]): boolean {
  const all = [address, ...embedded(address)];
  const may = all.every((a) => !NEVER.has(ipaddr.process(a).range()) && !inCidrs(a, METADATA) && !inCidrs(a, deny));
  return may && (!allow || inCidrs(address, allow) || all.every(isPublic));
}

const LAST = [12, 13, 14, 15];
/**
 * Byte positions of the IPv4 address behind a NAT64 prefix of 96, 64, 56 and 48 bits (RFC 6052), which skips the ninth
 * byte.
 */
const NAT64 = [LAST, [9, 10, 11, 12], [7, 9, 10, 11], [6, 7, 9, 10]];
/** Byte positions of the IPv4 address in transition addresses. The library already parses IPv4-mapped ones as IPv4. */
const EMBEDDED: [cidr: Cidr, positions: number[][]][] = [
  [parseCidr('64:ff9b::/96'), [LAST]],
  [parseCidr('64:ff9b:1::/48'), NAT64],
  [parseCidr('::ffff:0:0:0/96'), [LAST]],
  [parseCidr('2002::/16'), [[2, 3, 4, 5]]],
];

/**
 * IPv4 addresses that an IPv6 address may embed: NAT64, translated (RFC 6145), 6to4, Teredo, ISATAP and
 * IPv4-compatible. More than `addressForms`, since a guess here can only refuse, while there it may also allow.
 */
function embedded(address: string): string[] {
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return [];
  const bytes = ip.toByteArray();
  const at = (positions: number[]) => positions.map((i) => bytes[i]).join('.');
  const found = EMBEDDED.filter(([cidr]) => inCidrs(address, [cidr])).flatMap(([, all]) => all.map(at));
  if (ip.range() === 'teredo') found.push(at([4, 5, 6, 7]), LAST.map((i) => 255 - (bytes[i] as number)).join('.'));
  if (ip.toNormalizedString().split(':')[5] === '5efe') found.push(at(LAST));
  if (bytes.slice(0, 12).every((byte) => byte === 0) && !['loopback', 'unspecified'].includes(ip.range()))
    found.push(at(LAST));
  return found;
}

/**
 * One checked address of a host; connect to this address, do not resolve the name again.
 * @throws OutboundError `unavailable` (nothing sent) when the name does not resolve or its address is not allowed
 */
export const resolveAllowed = async (
  ...asked: [host: string, deny: readonly Cidr[], allow?: readonly Cidr[], find?: Find]
): Promise<string> => (await resolveAllAllowed(...asked))[0] as string;

/** Resolves a name to its addresses. @throws Error if there are none */
type Find = (name: string) => Promise<string[]>;
/** For hosts that administrators configure: search domains apply, as for services of a cluster. */
const bySearching: Find = (name) => bySystem(name, true);

/** The address that a host denotes, also in legacy notation (`127.1`, `0x7f000001`); null: a name. */
function addressIn(host: string): string | null {
  if (isIP(host)) return host;
  const url = `http://${host}`;
  const read = /^[\da-fx.]+$/i.test(host) && URL.canParse(url) ? new URL(url).hostname : '';
  return isIPv4(read) ? read : null;
}

/**
 * All checked addresses, at least one. @param find omitted: as by the system resolver @throws OutboundError as above
 */
export async function resolveAllAllowed(
  host: string,
  deny: readonly Cidr[],
  allow?: readonly Cidr[],
  find = bySearching,
): Promise<string[]> {
  const bare = host.replace(/^\[|\]$/g, '');
  const written = addressIn(bare);
  let addresses: string[];
  try {
    addresses = written ? [written] : await find(bare);
  } catch {
    throw new OutboundError('unavailable', `The host name ${host} cannot be resolved`, false);
  }
  const allowed = addresses.filter((a) => mayConnect(a, deny, allow));
  if (!allowed.length)
    throw new OutboundError('unavailable', `Connections to ${host} are not allowed (outbound rules)`, false);
  return allowed;
}

/** @throws OutboundError when the URL is not http(s), contains a user name, or has an address that is not allowed */
export function assertUrlAllowed(url: string, deny: readonly Cidr[], allow?: readonly Cidr[]): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.username || parsed.password) {
    throw new OutboundError('rejected', 'The endpoint must be an http or https URL without user name');
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !mayConnect(host, deny, allow)) {
    throw new OutboundError('rejected', `Connections to ${host} are not allowed (outbound rules)`);
  }
}
