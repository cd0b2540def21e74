/**
 * Rdata fields of each type, for the presentation form (RFC 1035 section 5.1) and the wire form (section 3.2.1). Type
 * numbers and fields are from the RFCs listed in IANA's registry of DNS parameters.
 */

export type Field = Single | Rest;
/** Fields of one word in presentation form; `text` is the remaining octets as one quoted string. */
type Single = 'u8' | 'u16' | 'u32' | 'ipv4' | 'ipv6' | 'name' | 'tag' | 'string' | 'text' | 'word';
/**
 * Fields that take the remaining words; `params` are those of SVCB, `location` is that of LOC. `word` and `words` have
 * a wire form that the service does not know.
 */
type Rest = (typeof REST)[number];
const REST = ['strings', 'hex', 'base64', 'types', 'params', 'location', 'words'] as const;

/** Type number and fields. ALIAS is implemented differently by each name server and has no wire form. */
const TYPES: Record<string, [number | null, ...Field[]]> = {
  A: [1, 'ipv4'],
  NS: [2, 'name'],
  CNAME: [5, 'name'],
  SOA: [6, 'name', 'name', 'u32', 'u32', 'u32', 'u32', 'u32'],
  PTR: [12, 'name'],
  HINFO: [13, 'string', 'string'],
  MX: [15, 'u16', 'name'],
  TXT: [16, 'strings'],
  RP: [17, 'name', 'name'],
  AFSDB: [18, 'u16', 'name'],
  X25: [19, 'words'],
  ISDN: [20, 'words'],
  RT: [21, 'u16', 'name'],
  NSAP: [22, 'words'],
  KEY: [25, 'words'],
  PX: [26, 'u16', 'name', 'name'],
  GPOS: [27, 'words'],
  AAAA: [28, 'ipv6'],
  LOC: [29, 'location'],
  SRV: [33, 'u16', 'u16', 'u16', 'name'],
  NAPTR: [35, 'u16', 'u16', 'string', 'string', 'string', 'name'],
  KX: [36, 'u16', 'name'],
  CERT: [37, 'u16', 'u16', 'u8', 'base64'],
  DNAME: [39, 'name'],
  SINK: [40, 'words'],
  APL: [42, 'words'],
  DS: [43, 'u16', 'u8', 'u8', 'hex'],
  SSHFP: [44, 'u8', 'u8', 'hex'],
  IPSECKEY: [45, 'words'],
  RRSIG: [46, 'word', 'u8', 'u8', 'u32', 'word', 'word', 'u16', 'name', 'words'],
  NSEC: [47, 'name', 'words'],
  DNSKEY: [48, 'u16', 'u8', 'u8', 'base64'],
  DHCID: [49, 'base64'],
  NSEC3: [50, 'words'],
  NSEC3PARAM: [51, 'words'],
  TLSA: [52, 'u8', 'u8', 'u8', 'hex'],
  SMIMEA: [53, 'u8', 'u8', 'u8', 'hex'],
  HIP: [55, 'words'],
  NINFO: [56, 'words'],
  RKEY: [57, 'words'],
  TALINK: [58, 'name', 'name'],
  CDS: [59, 'u16', 'u8', 'u8', 'hex'],
  CDNSKEY: [60, 'u16', 'u8', 'u8', 'base64'],
  OPENPGPKEY: [61, 'base64'],
  CSYNC: [62, 'u32', 'u16', 'types'],
  ZONEMD: [63, 'u32', 'u8', 'u8', 'hex'],
  SVCB: [64, 'u16', 'name', 'params'],
  HTTPS: [65, 'u16', 'name', 'params'],
  SPF: [99, 'strings'],
  NID: [104, 'words'],
  L32: [105, 'words'],
  L64: [106, 'words'],
  LP: [107, 'u16', 'name'],
  EUI48: [108, 'words'],
  EUI64: [109, 'words'],
  URI: [256, 'u16', 'u16', 'text'],
  CAA: [257, 'u8', 'tag', 'text'],
  AVC: [258, 'words'],
  AMTRELAY: [260, 'words'],
  RESINFO: [261, 'words'],
  WALLET: [262, 'words'],
  TA: [32768, 'words'],
  DLV: [32769, 'words'],
  ALIAS: [null, 'name'],
};

const NAMES = new Map(Object.entries(TYPES).map(([name, [number]]) => [number, name]));

/** Mnemonics of all known types. */
export const TYPE_NAMES: readonly string[] = Object.keys(TYPES);

/** Whether `type` is a known mnemonic or `TYPE123` (RFC 3597). */
export const isType = (type: string): boolean => Object.hasOwn(TYPES, type) || /^TYPE\d{1,5}$/.test(type);

/** The fields of a type's rdata; empty for unknown types. */
export const fieldsOf = (type: string): Field[] =>
  Object.hasOwn(TYPES, type) ? ((TYPES[type]?.slice(1) ?? []) as Field[]) : [];

/** Number of words in the rdata of a type; null if it varies. */
export function sizeOf(type: string): number | null {
  const fields = fieldsOf(type);
  return fields.length === 0 || fields.some((field) => (REST as readonly Field[]).includes(field))
    ? null
    : fields.length;
}

/** The mnemonic of a type, or `TYPE123` (RFC 3597). */
export const typeName = (number: number): string => NAMES.get(number) ?? `TYPE${number}`;

/** The number of a type by mnemonic or `TYPE123`. @throws RangeError when unknown */
export function typeNumber(name: string): number {
  const number = Object.hasOwn(TYPES, name) ? TYPES[name]?.[0] : Number(/^TYPE(\d{1,5})$/.exec(name)?.[1]);
  if (number == null || !(number <= 65535)) throw new RangeError(`unknown record type ${name}`);
  return number;
}

/** Maximum value of a numeric field. */
export const MAXIMUM: Partial<Record<Field, number>> = { u8: 255, u16: 65535, u32: 4294967295 };
