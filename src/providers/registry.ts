import { cloudflare } from './cloudflare/declaration.js';
import { digitalocean } from './digitalocean/declaration.js';
import { namecheap } from './namecheap/declaration.js';
import { powerdns } from './powerdns/declaration.js';
import type { ProviderDefinition } from './provider.js';
import { rfc2136 } from './rfc2136/declaration.js';
import { route53 } from './route53/declaration.js';
import { zonefile } from './zonefile/declaration.js';

/** Every provider kind. Adding one is its folder, its tests, and a line here. */
export const PROVIDERS: readonly ProviderDefinition[] = [
  cloudflare,
  digitalocean,
  namecheap,
  powerdns,
  rfc2136,
  route53,
  zonefile,
];

const BY_NAME = new Map(PROVIDERS.flatMap((one) => [one.kind, ...one.aliases].map((name) => [name, one] as const)));

/** The kind of this name, or of one that other tools have for it. */
export const providerOf = (name: string): ProviderDefinition | undefined => BY_NAME.get(name);
