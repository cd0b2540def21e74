import { PART_NAMES } from './part-names.js';
import { type RecordType, RULES } from './rdata.js';
import { wordsOf } from './tokens.js';
import { type Field, fieldsOf, MAXIMUM } from './types.js';

/** What is put into a part of a value. */
export const PART_KINDS = [
  ...(['ipv4', 'ipv6', 'name', 'integer', 'decimal', 'choice', 'word', 'text', 'hex', 'base64', 'parameters'] as const),
] as const;
export type PartKind = (typeof PART_KINDS)[number];

/** One part of a value, in the order of its text; parts stand apart by one blank. */
export interface ValuePart {
  name: string;
  kind: PartKind;
  /** false: it may be left out */
  required: boolean;
  min: number | null;
  max: number | null;
  /** of a choice */
  values: readonly string[] | null;
  /** it stands in quotes */
  quoted: boolean;
  example: string;
}

/** A value of each type, as the service stores it. */
const EXAMPLES: Record<RecordType, string> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  CNAME: 'www.example.net',
  MX: 'mail.example.net',
  TXT: 'v=spf1 -all',
  NS: 'ns1.example.net',
  SRV: '5 5060 sip.example.net',
  CAA: '0 issue "letsencrypt.org"',
  SVCB: '1 svc.example.net alpn=h2',
  HTTPS: '1 www.example.net alpn=h2,h3',
  TLSA: `3 1 1 ${'ab'.repeat(32)}`,
  SSHFP: `4 2 ${'ab'.repeat(32)}`,
  NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
  DS: `12345 13 2 ${'ab'.repeat(32)}`,
  PTR: 'host.example.net',
  ALIAS: 'www.example.net',
  LOC: '52 22 23.000 N 4 53 32.000 E -2.00m 1.00m 10000.00m 10.00m',
  URI: '10 1 "https://www.example.net/"',
  RP: 'admin.example.net .',
  DHCID: 'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
  DNAME: 'example.net',
  DNSKEY: '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==',
  OPENPGPKEY: 'mDMEXEcE6RYJKwYBBAHaRw8BAQ==',
  SMIMEA: `3 1 1 ${'ab'.repeat(32)}`,
};

const KINDS: Partial<Record<Field, PartKind>> = {
  ...({ u8: 'integer', u16: 'integer', u32: 'integer', ipv4: 'ipv4', ipv6: 'ipv6', name: 'name' } as const),
  ...({ tag: 'word', string: 'text', text: 'text', strings: 'text', hex: 'hex', base64: 'base64' } as const),
  params: 'parameters',
};

type Limits = Pick<ValuePart, 'kind'> & Partial<ValuePart>;
const whole = (max: number, required = true): Limits => ({ kind: 'integer', min: 0, max, required });
const decimal = (more: Partial<ValuePart> = {}): Limits => ({ kind: 'decimal', ...more });

/** The parts of a location (RFC 1876): its rdata is words of which no table tells more. */
const LOCATION: readonly Limits[] = [
  ...[whole(90), whole(59, false), decimal({ min: 0, max: 59.999, required: false })],
  { kind: 'choice', values: ['N', 'S'] },
  ...[whole(180), whole(59, false), decimal({ min: 0, max: 59.999, required: false })],
  { kind: 'choice', values: ['E', 'W'] },
  decimal(),
  ...[decimal({ min: 0, required: false }), decimal({ min: 0, required: false }), decimal({ min: 0, required: false })],
];

/** Of a record of MX and SRV the priority is a field of its own. */
const hasPriority = (type: RecordType): boolean => RULES[type].parse(EXAMPLES[type], null, '').priority !== null;

function limitsOf(type: RecordType): readonly Limits[] {
  if (type === 'LOC') return LOCATION;
  return fieldsOf(type)
    .slice(hasPriority(type) ? 1 : 0)
    .map((field) => {
      const max = MAXIMUM[field] ?? null;
      const quoted = field === 'string' || field === 'text';
      return { kind: KINDS[field] as PartKind, min: max && 0, max, quoted, required: field !== 'params' };
    });
}

/** The parts of a value of a type. */
function partsOf(type: RecordType): ValuePart[] {
  const names = PART_NAMES[type];
  const example = EXAMPLES[type];
  // a text is one part, whatever blanks it has
  const words = names.length === 1 ? [example] : (wordsOf(example) ?? []).map(({ raw }) => raw);
  return limitsOf(type).map((limits, i) => ({
    name: names[i] as string,
    ...{ required: true, min: null, max: null, values: null, quoted: false },
    ...limits,
    // metres may have their unit, but need none
    example: limits.kind === 'decimal' ? (words[i] ?? '').replace(/m$/, '') : (words[i] ?? ''),
  }));
}

/** A type of record that can be written, and what a value of it is made of. */
export interface TypeParts {
  type: RecordType;
  example: string;
  parts: ValuePart[];
  /** of a record that names none; null: records of the type have no priority */
  defaultPriority: number | null;
}

/** All types that can be written. */
export const TYPE_PARTS: readonly TypeParts[] = (Object.keys(RULES) as RecordType[]).map((type) => ({
  type,
  example: EXAMPLES[type],
  parts: partsOf(type),
  defaultPriority: RULES[type].parse(EXAMPLES[type], null, '').priority,
}));
