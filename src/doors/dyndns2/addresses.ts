import ipaddr from 'ipaddr.js';
import { InvalidRecord } from '../../platform/common/errors.js';

/** What a client says of its addresses: what it says nothing of stays. */
export interface Addresses {
  v4?: string;
  v6?: string;
  /** a network that the IPv6 addresses of hosts move to, each with its own end */
  prefix?: [ipaddr.IPv6, number];
}

/** Ranges of addresses at which others cannot reach a host. */
const NO_HOST: ReadonlySet<string> = new Set(['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast']);

/**
 * The addresses of a request.
 * @param given each one or several, with commas between @throws InvalidRecord at `myip`
 */
export function addressesOf(given: readonly (string | undefined)[], peer: string): Addresses {
  const texts = given.flatMap((text) => text?.split(',') ?? []).map((text) => text.trim());
  const named = texts.filter((text) => text !== '');
  const found: Addresses = {};
  for (const text of named.length ? named : [peer]) take(found, text);
  return found;
}

function assertReachable(address: ipaddr.IPv4 | ipaddr.IPv6): void {
  if (NO_HOST.has(address.range()))
    throw new InvalidRecord('myip', 'must not be an address that only this machine or link has');
}

function take(found: Addresses, text: string): void {
  if (ipaddr.IPv6.isValidCIDR(text)) {
    const prefix = ipaddr.IPv6.parseCIDR(text);
    assertReachable(prefix[0]);
    found.prefix = prefix;
    return;
  }
  // others are shorter forms that not everybody reads alike
  const isFour = ipaddr.IPv4.isValidFourPartDecimal(text);
  if (!isFour && !ipaddr.IPv6.isValid(text)) throw new InvalidRecord('myip', 'must be an address');
  const address = ipaddr.process(text);
  assertReachable(address);
  if (address instanceof ipaddr.IPv6) found.v6 = address.toRFC5952String();
  else found.v4 = address.toString();
}

/** An IPv6 address in another network: its end is kept. */
export function moved(address: string, [net, bits]: [ipaddr.IPv6, number]): string {
  const [own, other] = [ipaddr.IPv6.parse(address).toByteArray(), net.toByteArray()];
  const bytes = own.map((byte, i) => {
    const kept = Math.min(8, Math.max(0, (i + 1) * 8 - bits));
    const mask = (1 << kept) - 1;
    return (byte & mask) | ((other[i] as number) & ~mask & 0xff);
  });
  return new ipaddr.IPv6(bytes).toRFC5952String();
}
