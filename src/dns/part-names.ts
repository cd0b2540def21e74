const CERTIFICATE = ['usage', 'selector', 'matching_type', 'certificate_data'] as const;
const SERVICE = ['priority', 'target', 'parameters'] as const;
const POSITION = ['degrees', 'minutes', 'seconds', 'hemisphere'] as const;

/**
 * What the parts of a value are called, in the order of its text: in mistakes, and in the description of the types. The
 * priority of MX and SRV is a field of its own.
 */
export const PART_NAMES = {
  A: ['address'],
  AAAA: ['address'],
  CNAME: ['target'],
  MX: ['target'],
  TXT: ['text'],
  NS: ['target'],
  SRV: ['weight', 'port', 'target'],
  CAA: ['flags', 'tag', 'value'],
  SVCB: SERVICE,
  HTTPS: SERVICE,
  TLSA: CERTIFICATE,
  SSHFP: ['algorithm', 'fingerprint_type', 'fingerprint'],
  NAPTR: ['order', 'preference', 'flags', 'service', 'regexp', 'replacement'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
  PTR: ['target'],
  ALIAS: ['target'],
  LOC: [
    ...POSITION.map((part) => `latitude_${part}`),
    ...POSITION.map((part) => `longitude_${part}`),
    ...['altitude', 'size', 'horizontal_precision', 'vertical_precision'],
  ],
  URI: ['priority', 'weight', 'target'],
  RP: ['mailbox', 'text_name'],
  DHCID: ['identifier'],
  DNAME: ['target'],
  DNSKEY: ['flags', 'protocol', 'algorithm', 'public_key'],
  OPENPGPKEY: ['public_key'],
  SMIMEA: CERTIFICATE,
} satisfies Record<string, readonly string[]>;
