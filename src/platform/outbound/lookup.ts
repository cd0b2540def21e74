import { getServers } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Cidr, inCidrs, parseCidr } from '../common/cidr.js';

/**
 * The one place where names are looked up: by questions to the resolvers of the machine, never by `dns.lookup`, which
 * holds one of the four threads that files and passwords need, too, for as long as a name server keeps it waiting.
 */

/** ms for a name, with all that is asked for it */
const LIMIT_MS = 5000;
/** ms for one question to one resolver, and how often each is asked */
const ANSWER_MS = 1500;
const TRIES = 2;

const GLOBAL_IPV6: Cidr[] = [parseCidr('2000::/3')];
const LOOPBACK = ['127.0.0.1', '::1'];
const isLocal = (host: string) => /(^|\.)localhost\.?$/i.test(host);

/** Resolvers of the machine, as the settings name such. */
export const systemResolvers = (): string[] => getServers();

/**
 * The addresses of a name by DNS alone, as everybody finds them: no list of hosts, no search domains.
 * @param signal ends it
 * @throws Error where it has none, or none is told in time
 */
export async function byDns(host: string, signal?: AbortSignal): Promise<string[]> {
  if (isLocal(host)) return LOOPBACK;
  return inOrder(await asked(host, within(signal)));
}

/**
 * The same as programs of this machine find them: /etc/hosts before DNS.
 * @param searching also by the search domains of /etc/resolv.conf: for what administrators configured
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
  const limit = AbortSignal.timeout(LIMIT_MS);
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

/** Addresses that a list of hosts gives a name. */
export function hostsNamed(list: string, host: string): string[] {
  const wanted = host.toLowerCase().replace(/\.$/, '');
  return list.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) && names.some((name) => name.toLowerCase() === wanted) ? [address] : [];
  });
}

/** The names that stand for one, in the order in which they are asked for (resolv.conf(5): `search`, `ndots`). */
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

/** Those first that this machine has a way to, as far as it can tell (RFC 6724). */
function inOrder(addresses: readonly string[]): string[] {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal }) => !internal));
  const global = own.some(({ family, address }) => family === 'IPv6' && inCidrs(address, GLOBAL_IPV6));
  const first = global || !own.some(({ family }) => family === 'IPv4') ? 6 : 4;
  const last = (address: string) => (LOOPBACK.includes(address) || isIP(address) === first ? 0 : 1);
  return addresses.toSorted((a, b) => last(a) - last(b));
}
