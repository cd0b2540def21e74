import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Cidr, inCidrs, parseCidr } from '../common/cidr.js';
import { bySystem } from './lookup.js';
import { OutboundError } from './outbound-error.js';

const NEVER = new Set(['linkLocal', 'unspecified', 'multicast', 'broadcast']);

/**
 * Where clouds tell a machine its secrets, as far as it is not link-local: Alibaba, Azure, Oracle (classic), AWS (IMDS,
 * EKS), Google, Scaleway, Oracle.
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

/** Ranges of public addresses. NAT64 is judged by the IPv4 address inside. */
const PUBLIC = new Set(['unicast', 'rfc6052']);
const GLOBAL_IPV6 = ['2000::/3', '64:ff9b::/96'].map(parseCidr);

const isPublic = (address: string): boolean =>
  PUBLIC.has(ipaddr.process(address).range()) &&
  (ipaddr.process(address).kind() === 'ipv4' || inCidrs(address, GLOBAL_IPV6));

/**
 * Whether an address may be connected to: link-local, unspecified, cloud metadata and denied never, also in IPv6
 * clothes.
 * @param allow left out, for what administrators configured and what usually lives on private networks (providers,
 * identity providers, mail and DNS servers): private and loopback may be. Given, even empty, for what anybody may lie
 * behind (webhooks, health checks): public addresses, and those of this list. Every function of this room takes it.
 */
export function mayConnect(address: string, deny: readonly Cidr[], allow?: readonly Cidr[]): boolean {
  const all = [address, ...embedded(address)];
  const may = all.every((a) => !NEVER.has(ipaddr.process(a).range()) && !inCidrs(a, METADATA) && !inCidrs(a, deny));
  return may && (!allow || inCidrs(address, allow) || all.every(isPublic));
}

const LAST = [12, 13, 14, 15];
/**
 * Positions of an IPv4 address behind a NAT64 prefix of 96, 64, 56 and 48 bits (RFC 6052): the ninth byte is left out.
 */
const NAT64 = [LAST, [9, 10, 11, 12], [7, 9, 10, 11], [6, 7, 9, 10]];
/**
 * Where transition mechanisms carry an IPv4 address: positions of its bytes. IPv4-mapped addresses are IPv4 to the
 * library already.
 */
const EMBEDDED: [cidr: Cidr, positions: number[][]][] = [
  [parseCidr('64:ff9b::/96'), [LAST]],
  [parseCidr('64:ff9b:1::/48'), NAT64],
  [parseCidr('::ffff:0:0:0/96'), [LAST]],
  [parseCidr('2002::/16'), [[2, 3, 4, 5]]],
];

/**
 * The IPv4 addresses that an IPv6 address may lead to: NAT64, translated (RFC 6145), 6to4, Teredo, ISATAP, and the old
 * compatible form. More than `addressForms` knows: here every guess refuses, while there it may also admit.
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
 * One address for a host, checked: connect to this address, not to the name again.
 * @throws OutboundError `unavailable` (nothing sent) when the name does not resolve or its address is not allowed
 */
export const resolveAllowed = async (
  ...asked: [host: string, deny: readonly Cidr[], allow?: readonly Cidr[], find?: Find]
): Promise<string> => (await resolveAllAllowed(...asked))[0] as string;

/** The addresses of a name. @throws Error where it has none */
type Find = (name: string) => Promise<string[]>;
/** What administrators configured may be a name within a search domain, as services of a cluster are. */
const bySearching: Find = (name) => bySystem(name, true);

/** The address that a host is, also in the old forms (`127.1`, `0x7f000001`) that some programs read; null: a name. */
function addressIn(host: string): string | null {
  if (isIP(host)) return host;
  const url = `http://${host}`;
  const read = /^[\da-fx.]+$/i.test(host) && URL.canParse(url) ? new URL(url).hostname : '';
  return isIPv4(read) ? read : null;
}

/** All of them, at least one. @param find left out: as programs of this machine do @throws OutboundError as above */
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

/**
 * @throws OutboundError when the URL is no http(s) URL, carries a user name, or names an address that is not allowed.
 */
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
