/**
 * RDAP servers for the time until IANA's list was fetched, which replaces all of them: the most used top level domains
 * of its edition of 13 February 2026 (data.iana.org/rdap/dns.json).
 */
const BASES: Record<string, string> = {
  'https://rdap.verisign.com/com/v1/': 'com',
  'https://rdap.verisign.com/net/v1/': 'net',
  'https://tld-rdap.verisign.com/cc/v1/': 'cc',
  'https://tld-rdap.verisign.com/name/v1/': 'name',
  'https://rdap.publicinterestregistry.org/rdap/': 'org ngo ong charity foundation',
  'https://rdap.identitydigital.services/rdap/':
    'info ai asia agency bike bio black blue business cafe capital care center chat city company computer consulting digital direct domains education email energy engineering events exchange expert family finance fitness fund gallery games global gmbh gold green group guru holdings house immo industries institute international',
  'https://pubapi.registry.google/rdap/': 'app boo dad day dev foo how ing meme mov new nexus page phd prof rsvp zip',
  'https://rdap.gmoregistry.net/rdap/': 'shop tokyo nagoya yokohama',
  'https://rdap.nominet.uk/uk/': 'uk',
  'https://rdap.nominet.uk/wales/': 'wales',
  'https://rdap.nominet.uk/cymru/': 'cymru',
  'https://rdap.sidn.nl/': 'nl',
  'https://rdap.norid.no/': 'no',
  'https://rdap.fi/rdap/rdap/': 'fi',
  'https://rdap.dns.pl/': 'pl',
  'https://rdap.register.si/': 'si',
  'https://rdap.hostmaster.ua/': 'ua',
  'https://rdap.registro.br/': 'br',
  'https://rdap.ca.fury.ca/rdap/': 'ca',
  'https://rdap.cctld.au/rdap/': 'au',
  'https://rdap.nixiregistry.in/rdap/': 'in',
  'https://rdap.pandi.id/rdap/': 'id',
  'https://rdap.sgnic.sg/rdap/': 'sg',
  'https://rdap.thains.co.th/': 'th',
  'https://ccrdap.twnic.tw/tw/': 'tw',
  'https://rdap.nic.tf/': 'tf',
  'https://rdap.nic.tv/': 'tv',
  'https://rdap.nic.wf/': 'wf',
  'https://rdap.nic.yt/': 'yt',
  'https://rdap.registry.cloud/rdap/': 'cloud',
  'https://rdap.registry.love/rdap/': 'love',
  'https://rdap.tonicregistry.to/rdap/': 'to',
  'https://rdap.tucowsregistry.net/rdap/': 'click gift link',
  'https://rdap.ryce-rsp.com/rdap/': 'cologne koeln tirol wien',
  'https://rdap.zdnsgtld.com/top/': 'top',
};

/** Top level domains at one server, each with a path of its own. */
const CENTRALNIC =
  'art best bond build cam college cyou fm fo fun gd host icu inc lat lol london monster online pics press pw quest rent ruhr saarland sbs site space store storage tech uno vg website xyz';

export const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ...Object.entries(BASES).flatMap(([base, tlds]) => tlds.split(' ').map((tld) => [tld, base] as const)),
  ...CENTRALNIC.split(' ').map((tld) => [tld, `https://rdap.centralnic.com/${tld}/`] as const),
]);
