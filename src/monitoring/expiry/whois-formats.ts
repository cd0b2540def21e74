/** How a registry answers on port 43. */
export interface WhoisFormat {
  /** left out: whois.iana.org is asked which it is */
  server?: string;
  /** whole lines with the end of the registration, the parts of the date as named groups */
  lines: readonly RegExp[];
  /** time zone of times without one */
  zone?: string;
  /** left out: the name alone */
  query?: (name: string) => string;
  /** left out: UTF-8 */
  charset?: string;
  /** the form of this registry is not known, and the usual one is assumed */
  guessed?: boolean;
}

const TIME = '(?<t>\\d\\d?:\\d\\d(?::\\d\\d)?)';
const ZONE = '(?<z>Z|[A-Z]{3,4}|[+-]\\d\\d(?::?\\d\\d)?|\\(UTC[+-]\\d\\d?\\))';
const AT = `(?:[T ]${TIME}(?:\\.\\d{1,9})? ?${ZONE}?)?`;
const dayMonthYear = (mark: string) => `(?<d>\\d\\d?)${mark}(?<m>\\d\\d?)${mark}(?<y>\\d{4})${AT}`;
const yearMonthDay = (mark: string) => `(?<y>\\d{4})${mark}(?<m>\\d\\d?)${mark}(?<d>\\d\\d?)\\.?${AT}`;
const ISO = yearMonthDay('-');
const DAY_MONTH = `(?<d>\\d\\d?)[- ](?<m>[A-Z]{3})[- ](?<y>\\d{4})${AT}`;

/**
 * A line that is a label and a date and nothing else, up to its line break: neither words of a legal notice nor a line
 * that was cut match.
 */
const line = (label: string, date: string): RegExp => new RegExp(`^[ \\t]*${label}[ \\t]*${date}[ \\t]*\\r?\\n`, 'gim');
const at = (label: string, date = ISO, more: Partial<WhoisFormat> = {}): WhoisFormat => ({
  lines: [line(label, date)],
  ...more,
});

/** What ICANN requires of its registries, and most others use, too. */
export const COMMON: WhoisFormat = at('Registry Expiry Date:');

const from = (server: string, format: WhoisFormat = COMMON): WhoisFormat => ({ ...format, server });
const verisign = (server: string) => from(server, { ...COMMON, query: (name) => `domain ${name}` });
const latin = { charset: 'latin1' };
const AFNIC = from('whois.nic.fr', at('Expiry Date:'));
const TCI = from('whois.tcinet.ru', at('paid-till:'));
const COLON = '\\s*:';

/**
 * By top level domain. Dates are never guessed: a line of another form is not read, and the same text may be different
 * dates of two registries (02/11/2019 is in November in Portugal).
 */
export const FORMATS: Record<string, WhoisFormat> = {
  ...{ com: verisign('whois.verisign-grs.com'), net: verisign('whois.verisign-grs.com') },
  cc: verisign('ccwhois.verisign-grs.com'),
  org: from('whois.pir.org'),
  co: from('whois.registry.co'),
  ca: from('whois.cira.ca'),
  sg: { lines: [...COMMON.lines, line('Expiration Date:', DAY_MONTH)] },
  uk: from('whois.nic.uk', at('Expiry date:', DAY_MONTH)),
  ...Object.fromEntries(['fr', 're', 'pm', 'yt', 'tf', 'wf'].map((tld) => [tld, AFNIC])),
  it: from('whois.nic.it', at('Expire Date:')),
  se: from('whois.iis.se', at('expires:')),
  nu: from('whois.iis.nu', at('expires:')),
  dk: from('whois.punktum.dk', at('Expires:', ISO, { query: (name) => `--show-handles ${name}` })),
  fi: from('whois.fi', at('expires\\.*:', dayMonthYear('\\.'), latin)),
  is: from('whois.isnic.is', at('expires:', '(?<m>[A-Z]{3,})[ \\t]+(?<d>\\d\\d?)[ \\t]+(?<y>\\d{4})', latin)),
  ee: from('whois.tld.ee', at('expire:')),
  lt: from('whois.domreg.lt', at('Expires:')),
  pl: from('whois.dns.pl', at('renewal date:', yearMonthDay('\\.'))),
  cz: from('whois.nic.cz', at('expire:', dayMonthYear('\\.'))),
  sk: from('whois.sk-nic.sk', at('Valid Until:')),
  ro: from('whois.rotld.ro', at('Expires On:')),
  si: from('whois.register.si', at('expire:')),
  hr: from('whois.dns.hr', at('Registrar Registration Expiration Date:')),
  rs: from('whois.rnids.rs', at('Expiration date:', dayMonthYear('\\.'))),
  pt: from('whois.dns.pt', at('Expiration Date:', dayMonthYear('/'))),
  ...{ ru: TCI, su: TCI, 'xn--p1ai': TCI },
  ua: from('whois.ua', at('expires:')),
  by: at('Expiration Date:'),
  tr: from('whois.trabis.gov.tr', at('Expires on\\.*:', '(?<y>\\d{4})-(?<m>[A-Z]{3})-(?<d>\\d\\d?)\\.?')),
  il: from('whois.isoc.org.il', at('validity:', dayMonthYear('-'))),
  ir: from('whois.nic.ir', at('expire-date:')),
  jp: from('whois.jprs.jp', {
    lines: [
      line('(?:[a-z]\\. )?\\[Expires on\\]', yearMonthDay('/')),
      line('(?:[a-z]\\. )?\\[State\\][ \\t]*Connected \\(', `${yearMonthDay('/')}\\)`),
    ],
    zone: '+09:00',
    query: (name) => `${name}/e`,
  }),
  kr: from('whois.kr', at(`Expiration Date${COLON}`, yearMonthDay('\\. ?'))),
  cn: from('whois.cnnic.cn', at('Expiration Time:', ISO, { zone: '+08:00' })),
  tw: from('whois.twnic.net.tw', at('Record expires on', `${ISO}(?: \\(YYYY-MM-DD\\))?`, { zone: '+08:00' })),
  hk: from('whois.hkirc.hk', at('Expiry Date:', dayMonthYear('-'))),
  th: from('whois.thnic.co.th', at('Exp date:', DAY_MONTH)),
  my: at('(?:[a-z] )?\\[Record Expired\\]', DAY_MONTH),
  kg: at('Record expires on:', `[A-Z]{3} (?<m>[A-Z]{3})[ \\t]+(?<d>\\d\\d?) ${TIME} (?<y>\\d{4})`, {
    charset: 'windows-1251',
  }),
  br: from('whois.registro.br', at('expires:', '(?<y>\\d{4})(?<m>\\d\\d)(?<d>\\d\\d)', latin)),
  mx: at('Expiration Date:'),
  ve: at('Fecha de Vencimiento:'),
  ar: at('expire:'),
  cr: at('expire:', dayMonthYear('\\.')),
  cl: from('whois.nic.cl', at('Expiration date:')),
  im: at('Expiry Date:', dayMonthYear('/')),
};

/** Top level domains whose registries publish no end of a registration on port 43, or on a web page only. */
export const TELL_NOTHING = new Set(
  'de eu be at ch li nl hu lu lv no au nz kz ae sa pe gg je bg es gr vn ph az ba'.split(' '),
);
