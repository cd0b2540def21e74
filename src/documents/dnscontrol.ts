import { absolute } from '../dns/names.js';
import { tokens } from '../dns/tokens.js';
import { type Field, fieldsOf } from '../dns/types.js';
import type { PrintedRecord, Printer } from './document.js';
import { beside, lineOf, NOT_HERE } from './held.js';

/** Types whose arguments are the parts of their rdata. */
const IN_ORDER: ReadonlySet<string> = new Set([
  ...['A', 'AAAA', 'ALIAS', 'CNAME', 'DHCID', 'DNAME', 'DNSKEY', 'DS', 'MX', 'NAPTR', 'NS', 'OPENPGPKEY', 'PTR', 'RP'],
  ...['SMIMEA', 'SRV', 'SSHFP', 'TLSA'],
]);
/** Arguments of one call: an engine of JavaScript may take no more than some thousands. */
const BLOCK = 1000;

/** A text as JavaScript of any age reads it. */
const js = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);

const NUMBERS: ReadonlySet<Field | undefined> = new Set(['u8', 'u16', 'u32'] as const);

/** The arguments of a record behind its name; null when DNSControl has no form for it. */
function argumentsOf({ type, value, priority }: PrintedRecord): unknown[] | null {
  if (type === 'TXT') return [value];
  const words = tokens(priority === null ? value : `${priority} ${value}`);
  if (!words || words.some(({ bytes, text }) => !Buffer.from(text).equals(bytes))) return null;
  const texts = words.map(({ text }) => text);
  if (type === 'LOC') return texts.map((text) => (/^[NSEW]$/.test(text) ? text : Number(text.replace(/m$/, ''))));
  if (type === 'CAA') return /^(0|128)$/.test(texts[0] as string) ? texts.slice(1) : null;
  if (type === 'SVCB' || type === 'HTTPS') {
    const [order, target = '', ...params] = texts;
    return [Number(order), absolute(target), params.join(' ')];
  }
  if (!IN_ORDER.has(type)) return null;
  const fields = fieldsOf(type);
  return words.map(({ text, raw }, i) =>
    NUMBERS.has(fields[i]) ? Number(text) : fields[i] === 'name' ? absolute(raw) : text,
  );
}

/** A record as the call of a function; null as above. */
function callOf(record: PrintedRecord): string | null {
  const { host, type, ttl, value, proxied } = record;
  const given = record.readOnly ? null : argumentsOf(record);
  if (!given) return null;
  // DNSControl refuses NS at the root of a zone
  if (type === 'NS' && host === '@') return `NAMESERVER(${js(absolute(value))})`;
  const flags = [
    ...(type === 'CAA' && record.value.startsWith('128 ') ? ['CAA_CRITICAL'] : []),
    ...(proxied ? ['CF_PROXY_ON'] : []),
    `TTL(${ttl})`,
  ];
  return `${type}(${[js(host), ...given.map(js), ...flags].join(', ')})`;
}

function lineWith(call: string | null, record: PrintedRecord, zone: string): string {
  if (call === null) return `  // no form for it: ${lineOf(record, zone)}\n`;
  const more = beside(record, true);
  return `  ${record.enabled ? '' : '// disabled: '}${call},${more ? ` // ${more}` : ''}\n`;
}

export const dnscontrol: Printer = {
  contentType: 'text/javascript; charset=utf-8',
  extension: 'js',
  print(zone) {
    let count = 0;
    const name = js(zone);
    return {
      head: `// ${zone}: ${NOT_HERE}
// routing lines, weights and remarks have no form here; disabled records stand in comments
// name the registrar and the provider as your creds.json does
var REG_NONE = NewRegistrar("none");
var DSP_PROVIDER = NewDnsProvider("provider");
D(${name}, REG_NONE, DnsProvider(DSP_PROVIDER),
`,
      *records(records) {
        for (const record of records) {
          const call = callOf(record);
          if (call && record.enabled && ++count % BLOCK === 0) yield `END);\nD_EXTEND(${name},\n`;
          yield lineWith(call, record, zone);
        }
      },
      tail: () => 'END);\n',
    };
  },
};
