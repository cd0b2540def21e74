import type { RemoteRule } from '../providers/tunnels.js';
import { fits, heldRules, hostnamesOf } from './ingress.js';
import type { TunnelRow } from './tunnels.repository.js';
import type { Without } from './unmanaged.js';

/**
 * The rules that are valid, by what the provider shows. Where it shows none any more, of a tunnel that had some, the
 * stored ones stay: without them the hostnames of its CNAMEs would be lost.
 */
export function rulesOf(
  row: Pick<TunnelRow, 'ingress' | 'version' | 'unmanaged' | 'dns_managed'>,
  shown: { ingress: RemoteRule[]; version: number },
): Pick<TunnelRow, 'ingress' | 'version' | 'unmanaged'> {
  const { ingress, version, unmanaged } = row;
  if (shown.version === 0 && version) return { ingress, version, unmanaged };
  const held = heldRules(shown.ingress);
  return { ingress: held, version: shown.version, unmanaged: leftBehind(row, hostnamesOf(held)) };
}

/** Hostnames whose rules somebody else removed: their CNAMEs stay until the next change here. */
export const leftOf = ({ unmanaged }: Pick<TunnelRow, 'unmanaged'>): string[] =>
  unmanaged.filter(([, why]) => why === 'left').map(([hostname]) => hostname);

/** What is unmanaged when the rules are those of `hostnames`. */
function leftBehind(
  { ingress, unmanaged, dns_managed }: Pick<TunnelRow, 'ingress' | 'unmanaged' | 'dns_managed'>,
  hostnames: readonly string[],
): Without[] {
  const rest = unmanaged.filter(([hostname, why]) => hostnames.includes(hostname) !== (why === 'left'));
  const known = new Set(unmanaged.map(([hostname]) => hostname));
  const gone = hostnamesOf(ingress).filter((hostname) => !hostnames.includes(hostname) && !known.has(hostname));
  const all = [...rest, ...(dns_managed ? gone : []).map((hostname): Without => [hostname, 'left'])];
  return fits(all) ? all : rest;
}
