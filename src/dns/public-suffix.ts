import { parse } from 'tldts';

/**
 * Whether registries give names away directly below this one (`com`, `co.uk`), by ICANN's section of the public suffix
 * list. Its private section (`github.io`) is of companies, for whom such a zone is one like any other; so are top level
 * domains that nobody delegates.
 * @param name A-labels, lower case
 */
export function isPublicSuffix(name: string): boolean {
  const { domain, isIcann } = parse(name, { allowPrivateDomains: false, validateHostname: false });
  return isIcann === true && domain === null;
}
