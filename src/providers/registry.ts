import { cloudflare } from './cloudflare/cloudflare.provider.js';
import { digitalocean } from './digitalocean/digitalocean.provider.js';
import { namecheap } from './namecheap/namecheap.provider.js';
import { powerdns } from './powerdns/powerdns.provider.js';
import type { ProviderDefinition } from './provider.js';
import { rfc2136 } from './rfc2136/rfc2136.provider.js';
import { route53 } from './route53/route53.provider.js';
import { zonefile } from './zonefile/zonefile.provider.js';

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
