import { sha256 } from '../platform/common/hash.js';
import type { Credentials, Installation, ProviderDefinition } from './provider.js';

/**
 * Names the server that an account's zones are at, whichever account it is: its kind, and its address where accounts of
 * the kind name one. Two accounts with the same key that hold a zone of the same id hold the same zone.
 */
export function serverKey(
  { kind, server }: Pick<ProviderDefinition, 'kind' | 'server'>,
  credentials: Credentials,
  installation: Installation = {},
): string {
  const address = server ? server(credentials, installation) : credentials.endpoint || credentials.url || '';
  return sha256(`${kind}|${oneSpelling(address)}`);
}

/** Normalizes an address, so that equal servers have equal keys. */
function oneSpelling(address: string): string {
  const host = (name: string) => name.replace(/\.(?=:|$)/, '').replace(/^localhost(?=:|$)/, '127.0.0.1');
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return host(address);
  const { protocol, host: name, pathname, search } = new URL(address);
  return `${protocol}//${host(name)}${pathname.replace(/\/+$/, '').replace(/\/api(\/v1)?$/, '')}${search}`;
}
