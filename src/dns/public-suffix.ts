import { parse } from 'tldts';

/**
 * Whether registries assign names directly below this one (`com`, `co.uk`), by the ICANN section of the public suffix
 * list. Its private section (`github.io`) belongs to companies and is treated like any zone, as are undelegated
 * top-level domains.
 * @param name A-labels, lower case
 */
export function isPublicSuffix(name: string): boolean {
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann === true && domain === null;
}
