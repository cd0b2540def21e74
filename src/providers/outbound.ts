import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent } from 'undici';
import { type Cidr, inCidrs } from '../common/cidr.js';
import { ProviderError } from './errors.js';

const NEVER = new Set(['linkLocal', 'unspecified', 'multicast', 'broadcast']);

/** Whether what an administrator configured may be connected to: private and loopback yes, link-local, unspecified and denied never. */
export function mayConnect(address: string, deny: readonly Cidr[]): boolean {
  return reached(address).every((a) => !NEVER.has(ipaddr.process(a).range()) && !inCidrs(a, deny));
}

/** The address, and the IPv4 address that a NAT64 or 6to4 address leads to. */
function reached(address: string): string[] {
  const ip = ipaddr.process(address);
  const embedded = { rfc6052: 12, '6to4': 2 }[ip.range() as string];
  return embedded === undefined
    ? [address]
    : [
        address,
        ip
          .toByteArray()
          .slice(embedded, embedded + 4)
          .join('.'),
      ];
}

/**
 * One address for a host that an administrator named, checked: connect to this address, not to the name again.
 * @throws ProviderError `unavailable` (nothing sent) when the name does not resolve or its address is not allowed
 */
export async function resolveAllowed(host: string, deny: readonly Cidr[]): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, '');
  let addresses: string[];
  try {
    addresses = isIP(bare) ? [bare] : (await dnsLookup(bare, { all: true })).map((a) => a.address);
  } catch {
    throw new ProviderError('unavailable', `The host name ${host} cannot be resolved`, false);
  }
  const allowed = addresses.find((a) => mayConnect(a, deny));
  if (!allowed)
    throw new ProviderError('unavailable', `Connections to ${host} are not allowed (outbound rules)`, false);
  return allowed;
}

/** A keep-alive agent that connects only to addresses that it has checked itself. Redirects are never followed. */
export function outboundAgent(deny: readonly Cidr[], timeoutMs: number): Agent {
  return new Agent({
    keepAliveTimeout: 30_000,
    connect: {
      timeout: timeoutMs,
      // net.connect asks `lookup` for names only; addresses in URLs are checked by `assertUrlAllowed` when the account connects
      lookup: (hostname, options, callback) => {
        const answer = callback as (error: Error | null, address?: unknown, family?: number) => void;
        resolveAllowed(hostname, deny).then(
          (address) =>
            options.all ? answer(null, [{ address, family: isIP(address) }]) : answer(null, address, isIP(address)),
          (error: Error) => answer(Object.assign(new Error(error.message), { code: 'EOUTBOUND' })),
        );
      },
    },
  });
}

/** @throws ProviderError when the URL is no http(s) URL, carries a user name, or names an address that is not allowed. */
export function assertUrlAllowed(url: string, deny: readonly Cidr[]): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.username || parsed.password) {
    throw new ProviderError('rejected', 'The endpoint must be an http or https URL without user name');
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !mayConnect(host, deny)) {
    throw new ProviderError('rejected', `Connections to ${host} are not allowed (outbound rules)`);
  }
}
