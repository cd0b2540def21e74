import { parse } from 'tldts';

/** The last label, which says whose registry it is (com.br is Brazil's). */
export const tldOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/**
 * The registrable name at or above a zone, by the ICANN section of the public suffix list: names below the domains of
 * companies are in no registry. Null for names that nobody registers: public suffixes, reverse zones, and top level
 * domains that are not delegated.
 * @param name A-labels, lower case
 * @param own top level domains that are not delegated, but have a registry all the same
 */
export function registrableOf(name: string, own: ReadonlySet<string>): string | null {
  const tld = tldOf(name);
  // registries take letters, digits and hyphens, and questions must contain nothing else
  if (tld === 'arpa' || !/^[a-z0-9.-]+$/.test(name)) return null;
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann || own.has(tld) ? domain : null;
}
