import { akamai } from './akamai/declaration.js';
import { aliesa } from './aliesa/declaration.js';
import { aliyun } from './aliyun/declaration.js';
import { azure } from './azure/declaration.js';
import { baidu } from './baidu/declaration.js';
import { bunny } from './bunny/declaration.js';
import { cloudflare } from './cloudflare/declaration.js';
import { cloudns } from './cloudns/declaration.js';
import { constellix } from './constellix/declaration.js';
import { cpanel } from './cpanel/declaration.js';
import { desec } from './desec/declaration.js';
import { designate } from './designate/declaration.js';
import { digitalocean } from './digitalocean/declaration.js';
import { directadmin } from './directadmin/declaration.js';
import { dnsimple } from './dnsimple/declaration.js';
import { dnsla } from './dnsla/declaration.js';
import { dnsmadeeasy } from './dnsmadeeasy/declaration.js';
import { dnspod } from './dnspod/declaration.js';
import { dynu } from './dynu/declaration.js';
import { easydns } from './easydns/declaration.js';
import { edgeone } from './edgeone/declaration.js';
import { exoscale } from './exoscale/declaration.js';
import { gandi } from './gandi/declaration.js';
import { gcore } from './gcore/declaration.js';
import { godaddy } from './godaddy/declaration.js';
import { googlecloud } from './googlecloud/declaration.js';
import { hetzner } from './hetzner/declaration.js';
import { hostingde, httpnet } from './hostingde/declaration.js';
import { hostinger } from './hostinger/declaration.js';
import { huaweicloud } from './huaweicloud/declaration.js';
import { infomaniak } from './infomaniak/declaration.js';
import { inwx } from './inwx/declaration.js';
import { ionos } from './ionos/declaration.js';
import { jdcloud } from './jdcloud/declaration.js';
import { linode } from './linode/declaration.js';
import { luadns } from './luadns/declaration.js';
import { namecheap } from './namecheap/declaration.js';
import { namecom } from './namecom/declaration.js';
import { namesilo } from './namesilo/declaration.js';
import { netcup } from './netcup/declaration.js';
import { netlify } from './netlify/declaration.js';
import { ns1 } from './ns1/declaration.js';
import { oci } from './oci/declaration.js';
import { ovh } from './ovh/declaration.js';
import { plesk } from './plesk/declaration.js';
import { porkbun } from './porkbun/declaration.js';
import { powerdns } from './powerdns/declaration.js';
import type { ProviderDefinition } from './provider.js';
import { rainyun } from './rainyun/declaration.js';
import { regfish } from './regfish/declaration.js';
import { rfc2136 } from './rfc2136/declaration.js';
import { route53 } from './route53/declaration.js';
import { scaleway } from './scaleway/declaration.js';
import { spaceship } from './spaceship/declaration.js';
import { technitium } from './technitium/declaration.js';
import { tencentcloud } from './tencentcloud/declaration.js';
import { transip } from './transip/declaration.js';
import { ultradns } from './ultradns/declaration.js';
import { vercel } from './vercel/declaration.js';
import { volcengine } from './volcengine/declaration.js';
import { vultr } from './vultr/declaration.js';
import { west } from './west/declaration.js';
import { yandexcloud } from './yandexcloud/declaration.js';
import { zonefile } from './zonefile/declaration.js';

/** Every provider kind. Adding one is its folder, its tests, and a line here. */
export const PROVIDERS: readonly ProviderDefinition[] = [
  akamai,
  aliesa,
  aliyun,
  azure,
  baidu,
  bunny,
  cloudflare,
  cloudns,
  cpanel,
  constellix,
  desec,
  designate,
  digitalocean,
  directadmin,
  dnsimple,
  dnsla,
  dnsmadeeasy,
  dnspod,
  dynu,
  easydns,
  edgeone,
  exoscale,
  gandi,
  gcore,
  godaddy,
  googlecloud,
  hetzner,
  hostinger,
  hostingde,
  httpnet,
  huaweicloud,
  infomaniak,
  inwx,
  ionos,
  jdcloud,
  linode,
  luadns,
  namecheap,
  namecom,
  namesilo,
  netcup,
  netlify,
  ns1,
  oci,
  ovh,
  plesk,
  porkbun,
  powerdns,
  rainyun,
  regfish,
  rfc2136,
  route53,
  scaleway,
  spaceship,
  technitium,
  tencentcloud,
  transip,
  ultradns,
  vercel,
  volcengine,
  vultr,
  west,
  yandexcloud,
  zonefile,
];

const BY_NAME = new Map(PROVIDERS.flatMap((one) => [one.kind, ...one.aliases].map((name) => [name, one] as const)));

/** The kind of this name, or of one that other tools have for it. */
export const providerOf = (name: string): ProviderDefinition | undefined => BY_NAME.get(name);
