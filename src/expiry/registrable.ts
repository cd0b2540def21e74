import { parse } from 'tldts';

/** The last label, which says whose registry it is (com.br is Brazil's). */
export const tldOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/**
 * The name that is registered, of a zone at it or below it: by the public suffix list, ICANN's section alone, since
 * what companies give away below their own domains is registered nowhere. Null for what nobody registers: public
 * suffixes, reverse zones, and top level domains that are not delegated.
 * @param name A-labels, lower case
 * @param own top level domains that are not delegated, but have a registry all the same
 */
export function registrableOf(name: string, own: ReadonlySet<string>): string | null {
  const tld = tldOf(name);
  // registries take letters, digits and hyphens, and nothing else is to come into their questions
  if (tld === 'arpa' || !/^[a-z0-9.-]+$/.test(name)) return null;
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann || own.has(tld) ? domain : null;
}
