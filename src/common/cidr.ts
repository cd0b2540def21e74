import ipaddr from 'ipaddr.js';

/** A network: address and prefix length, in either family. */
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses `address` or `address/bits`. @throws Error naming what is wrong */
export function parseCidr(entry: string): Cidr {
  const text = entry.trim();
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (ipaddr.isValid(text)) {
    const ip = ipaddr.parse(text);
    return [ip, ip.kind() === 'ipv4' ? 32 : 128];
  }
  throw new Error(`"${text}" is not an address or CIDR`);
}

/** Whether the address lies in one of the networks; an IPv4-mapped IPv6 address counts as the IPv4 address that it is. */
export function inCidrs(address: string, networks: readonly Cidr[]): boolean {
  if (!networks.length || !ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  return networks.some(([net, bits]) => net.kind() === ip.kind() && ip.match(net, bits));
}

/** The client's network for limits and locks: the IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return ip.toString();
  const parts = (ip as ipaddr.IPv6).parts.map((part, i) => (i < 4 ? part : 0));
  return `${new ipaddr.IPv6(parts).toRFC5952String()}/64`;
}
