import ipaddr from 'ipaddr.js';

/** A network: address and prefix length, in either family. */
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Parses `address` or `address/bits`; a network of IPv4-mapped addresses is returned as the IPv4 network.
 * @throws Error naming what is wrong
 */
export function parseCidr(entry: string): Cidr {
  const text = entry.trim();
  if (ipaddr.isValidCIDR(text)) return plain(...ipaddr.parseCIDR(text));
  if (ipaddr.isValid(text)) {
    const ip = ipaddr.parse(text);
    return plain(ip, ip.kind() === 'ipv4' ? 32 : 128);
  }
  throw new Error(`"${text}" is not an address or CIDR`);
}

function plain(ip: Cidr[0], bits: number): Cidr {
  const mapped = ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress() && bits >= 96;
  return mapped ? [ip.toIPv4Address(), bits - 96] : [ip, bits];
}

/**
 * Whether the address lies in one of the networks; an IPv4-mapped IPv6 address counts as the IPv4 address that it is.
 */
export const inCidrs = (address: string, networks: readonly Cidr[]): boolean =>
  networks.length > 0 && ipaddr.isValid(address) && holds(networks, ipaddr.process(address));

/** Whether one of the networks contains a parsed address. */
export const holds = (networks: readonly Cidr[], ip: Cidr[0]): boolean =>
  networks.some(([net, bits]) => net.kind() === ip.kind() && ip.match(net, bits));

/**
 * The address itself (an IPv4-mapped one as IPv4) and the IPv4 address embedded in a NAT64 (RFC 6052), translated (RFC
 * 6145) or 6to4 address; empty when the text is not an address.
 */
export function addressForms(address: string): Cidr[0][] {
  if (!ipaddr.isValid(address)) return [];
  const ip = ipaddr.process(address);
  const embedded = { rfc6052: 12, rfc6145: 12, '6to4': 2 }[ip.range() as string];
  return embedded === undefined ? [ip] : [ip, new ipaddr.IPv4(ip.toByteArray().slice(embedded, embedded + 4))];
}

/** The client's network for limits and locks: the IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return ip.toString();
  const parts = (ip as ipaddr.IPv6).parts.map((part, i) => (i < 4 ? part : 0));
  return `${new ipaddr.IPv6(parts).toRFC5952String()}/64`;
}
