import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { Dice } from './dice.js';

/** A change of a list as a client sends it. */
export type Sent = { op: string; id?: number } & Record<string, unknown>;

const HOSTS = ['@', 'www', 'www', 'www', 'a', 'a', 'b', '*.w', '_dmarc', 'x.y', 'bücher', 'ns1'];
export const TTLS = [60, 120, 300, 600, 3600];
const HEX = ['00ff', 'a1b2'].map((part) => part.repeat(16));

const TEXTS = [
  'plain',
  'v=spf1 -all',
  'with "quotes" inside',
  '"a" "b"',
  'back\\slash',
  '\\032 and \\"',
  'semi;colon $dollar (parens) @',
  'ünïcode ✓ 漢',
  ' blanks at both ends ',
  'tab\tand\nline',
  `${'long '.repeat(80)}end`,
  'x'.repeat(255),
  '%41&amp;<tag>',
];

/** The fields of a value of each type. */
export const VALUES: Record<string, (dice: Dice) => Record<string, unknown>> = {
  A: (dice) => ({ value: `192.0.2.${dice.int(1, 6)}` }),
  AAAA: (dice) => ({ value: `2001:db8::${dice.int(1, 4)}` }),
  CNAME: (dice) => ({ value: `target${dice.int(1, 3)}.example.net` }),
  MX: (dice) => ({ value: `mail${dice.int(1, 3)}.example.net`, priority: dice.of([5, 10, 20]) }),
  TXT: (dice) => ({ value: dice.of(TEXTS) }),
  NS: (dice) => ({ value: `ns${dice.int(1, 3)}.example.net` }),
  SRV: (dice) => ({ value: `${dice.int(0, 2)} 5060 sip${dice.int(1, 2)}.example.net`, priority: dice.of([0, 10]) }),
  CAA: (dice) => ({ value: `${dice.of([0, 128])} ${dice.of(['issue', 'issuewild'])} "ca${dice.int(1, 2)}.example"` }),
  SVCB: (dice) => ({ value: `${dice.int(1, 2)} svc.example.net alpn=h2` }),
  HTTPS: (dice) => ({ value: `${dice.int(1, 2)} . alpn=h2,h3` }),
  TLSA: (dice) => ({ value: `3 1 1 ${dice.of(HEX)}` }),
  SSHFP: (dice) => ({ value: `4 2 ${dice.of(HEX)}` }),
  NAPTR: (dice) => ({ value: `${dice.int(1, 2)} 10 "u" "E2U+sip" "!^.*$!sip:a@example.net!" .` }),
  DS: (dice) => ({ value: `${dice.int(1, 3)} 13 2 ${dice.of(HEX)}` }),
  PTR: (dice) => ({ value: `host${dice.int(1, 3)}.example.net` }),
  ALIAS: (dice) => ({ value: `alias${dice.int(1, 2)}.example.net` }),
  LOC: () => ({ value: '52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m' }),
  URI: (dice) => ({ value: `10 1 "https://u${dice.int(1, 2)}.example.net/"` }),
  RP: (dice) => ({ value: `admin${dice.int(1, 2)}.example.net .` }),
  DHCID: (dice) => ({ value: `AAIB${dice.of(['Y2/A', 'Y2/B'])}` }),
  DNAME: (dice) => ({ value: `tree${dice.int(1, 2)}.example.net` }),
  DNSKEY: (dice) => ({ value: `257 3 13 ${dice.of(['AwEA', 'AwEB'])}` }),
  OPENPGPKEY: (dice) => ({ value: `mDME${dice.of(['XEcE', 'XEcF'])}` }),
  SMIMEA: (dice) => ({ value: `3 1 1 ${dice.of(HEX)}` }),
};

/** What random edits are made for. */
export interface Soil {
  types: readonly string[];
  proxy: boolean;
  /** as the API lists them */
  records: readonly RecordView[];
}

/** Addresses half of the time, and now and then what fits nowhere. */
function typeOf(dice: Dice, { types }: Soil): string {
  return dice.chance(0.45) ? dice.of(['A', 'A', 'AAAA', 'TXT']) : dice.of(types);
}

function hostFor(dice: Dice, type: string): string {
  // mostly where a delegation is, or may be
  if (type === 'DS') return dice.of(['deleg', 'deleg', 'deleg2', 'deleg2', '@']);
  if (type === 'NS') return dice.chance(0.8) ? dice.of(['deleg', 'deleg2']) : '@';
  if (type === 'SRV') return dice.of(['_sip._tcp', '_sip._tcp', 'www']);
  if (type === 'CNAME') return dice.of(['c1', 'c2', 'c3', 'www', 'a']);
  return dice.of([...HOSTS, 'c1']);
}

function fieldsOf(dice: Dice, soil: Soil): Record<string, unknown> {
  const type = typeOf(dice, soil);
  return {
    host: hostFor(dice, type),
    type,
    ...VALUES[type]?.(dice),
    ...(dice.chance(0.4) && { ttl: dice.of(TTLS) }),
    ...(dice.chance(0.2) && { remark: `remark ${dice.int(1, 99)}` }),
    ...(dice.chance(0.12) && { enabled: dice.chance(0.3) }),
    ...(soil.proxy && dice.chance(0.2) && ['A', 'AAAA', 'CNAME'].includes(type) && { proxied: dice.chance(0.7) }),
  };
}

function patchOf(dice: Dice, record: RecordView | undefined): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  if (record && dice.chance(0.6)) Object.assign(patch, VALUES[record.type]?.(dice));
  if (dice.chance(0.35)) patch.ttl = dice.of(TTLS);
  if (dice.chance(0.25)) patch.host = record ? hostFor(dice, record.type) : 'www';
  if (dice.chance(0.2)) patch.remark = `remark ${dice.int(1, 99)}`;
  if (dice.chance(0.1)) patch.enabled = dice.chance(0.5);
  return Object.keys(patch).length ? patch : { ttl: dice.of(TTLS) };
}

/** One random edit. Ids are mostly those of what is there, sometimes again and again the same. */
export function editFor(dice: Dice, soil: Soil): Sent {
  const { records } = soil;
  const busy = Math.min(0.75, records.length / 40);
  if (!records.length || !dice.chance(Math.max(0.35, busy))) {
    return { op: dice.chance(0.3) ? 'upsert' : 'create', ...fieldsOf(dice, soil) };
  }
  const record = dice.chance(0.03) ? undefined : dice.of(records);
  const id = record?.id ?? 999_999;
  const throwOf = dice.next();
  if (throwOf < 0.1 && record) {
    // what is there already, with something else
    const { host, type, value, priority } = record;
    return { op: 'upsert', host, type, value, ...(priority !== null && { priority }), ttl: dice.of(TTLS) };
  }
  if (throwOf < 0.4) return { op: 'delete', id };
  if (throwOf < 0.6) return { op: 'status', id, enabled: dice.chance(0.5) };
  return { op: 'update', id, ...patchOf(dice, record) };
}

/** A record set as a whole. */
export function setFor(dice: Dice, soil: Soil): { host: string; type: string; body: object } {
  const type = typeOf(dice, soil);
  const values = Array.from({ length: dice.int(1, 4) }, () => VALUES[type]?.(dice));
  const distinct = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  return {
    host: hostFor(dice, type),
    type,
    body: { values: distinct, ...(dice.chance(0.5) && { ttl: dice.of(TTLS) }) },
  };
}
