import { getServers } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Cidr, inCidrs, parseCidr } from '../common/cidr.js';
import { timeoutSignal } from '../common/clock.js';

/**
 * All name lookups are made here by DNS queries, never by `dns.lookup`, which blocks one of libuv's four threads,
 * shared with files and password hashing, until the name server answers.
 */

/** Timeout in ms of all queries for a name. */
const LIMIT_MS = 5000;
/** Timeout in ms of one query to one resolver, and the number of attempts. */
const ANSWER_MS = 1500;
const TRIES = 2;

const GLOBAL_IPV6: Cidr[] = [parseCidr('2000::/3')];
const LOOPBACK = ['127.0.0.1', '::1'];
const isLocal = (host: string) => /(^|\.)localhost\.?$/i.test(host);

/** The resolvers of this machine, in the format of the settings. */
export const systemResolvers = (): string[] => getServers();

/**
 * Resolves a name by DNS alone, without the hosts file and search domains.
 * @param signal aborts the lookup
 * @throws Error if it has no address, or none is found in time
 */
export async function byDns(host: string, signal?: AbortSignal): Promise<string[]> {
  if (isLocal(host)) return LOOPBACK;
  return inOrder(await asked(host, within(signal)));
}

/**
 * Resolves a name as programs on this machine do: /etc/hosts before DNS.
 * @param searching also use the search domains of /etc/resolv.conf: for what administrators configure
 */
export async function bySystem(host: string, searching: boolean, signal?: AbortSignal): Promise<string[]> {
  const limit = within(signal);
  const listed = hostsNamed(await text('/etc/hosts'), host);
  if (listed.length) return inOrder(listed);
  if (isLocal(host)) return LOOPBACK;
  const names = searching ? candidates(await text('/etc/resolv.conf'), host) : [host];
  let failure: unknown;
  for (const name of names) {
    try {
      return inOrder(await asked(name, limit));
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

const within = (signal?: AbortSignal) => {
  const limit = timeoutSignal(LIMIT_MS);
  return signal ? AbortSignal.any([signal, limit]) : limit;
};

const text = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

async function asked(host: string, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (!addresses.length) throw new Error('it has no address, or nobody tells it');
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Addresses of a name in a hosts file. */
export function hostsNamed(list: string, host: string): string[] {
  const wanted = host.toLowerCase().replace(/\.$/, '');
  return list.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) && names.some((name) => name.toLowerCase() === wanted) ? [address] : [];
  });
}

/** The names to query for a host, in order (resolv.conf(5): `search`, `ndots`). */
export function candidates(configuration: string, host: string): string[] {
  if (host.endsWith('.')) return [host];
  let search: string[] = [];
  let ndots = 1;
  for (const line of configuration.split('\n')) {
    const [word, ...more] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (word === 'search' || word === 'domain') search = more;
    if (word === 'options') ndots = Number(more.join(' ').match(/\bndots:(\d+)/)?.[1] ?? ndots);
  }
  const below = search.map((domain) => `${host}.${domain.replace(/\.$/, '')}`).filter((name) => !name.endsWith('.'));
  return host.split('.').length > ndots ? [host, ...below] : [...below, host];
}

/** Sorts addresses with a likely route from this machine first (RFC 6724). */
function inOrder(addresses: readonly string[]): string[] {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal }) => !internal));
  const global = own.some(({ family, address }) => family === 'IPv6' && inCidrs(address, GLOBAL_IPV6));
  const first = global || !own.some(({ family }) => family === 'IPv4') ? 6 : 4;
  const last = (address: string) => (LOOPBACK.includes(address) || isIP(address) === first ? 0 : 1);
  return addresses.toSorted((a, b) => last(a) - last(b));
}
