import { absolute } from '../dns/names.js';
import { quoteBytes } from '../dns/text.js';
import { tokens } from '../dns/tokens.js';
import { sha256 } from '../platform/common/hash.js';
import type { PrintedRecord, Printer } from './document.js';
import { beside, lineOf, NOT_HERE, setsOf } from './held.js';

const CONTROLS: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text of HCL, whose templates are not to be filled in. */
const hcl = (text: string): string => {
  const escaped = text
    .replace(/["\\]/g, '\\$&')
    .replace(/[$%](?=\{)/g, '$&$&')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
    .replace(/[\0-\x1f\x7f]/g, (c) => CONTROLS[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${escaped}"`;
};

/** Each value of a set in a list. */
const list = (name: string, textOf: (record: PrintedRecord) => string) => ({
  single: false,
  *body(set: readonly PrintedRecord[]) {
    yield `  ${name} = [\n`;
    for (const record of set) yield `    ${hcl(textOf(record))},\n`;
    yield '  ]\n';
  },
});
/** The one value of a set. */
const one = (name: string) => ({
  single: true,
  *body([record]: readonly PrintedRecord[]) {
    yield `  ${name} = ${hcl(absolute(record?.value ?? ''))}\n`;
  },
});
/** A block for each value; its numbers come first, its target last. */
const blocks = (name: string, ...parts: string[]) => ({
  single: false,
  *body(set: readonly PrintedRecord[]) {
    for (const { priority, value } of set) {
      const words = (tokens(`${priority} ${value}`) ?? []).map(({ text }) => text);
      const lines = parts.map((part, i) => {
        const word = words[i] ?? '';
        return `    ${part} = ${i < parts.length - 1 ? word : hcl(absolute(word))}\n`;
      });
      yield `  ${name} {\n${lines.join('')}  }\n`;
    }
  },
});

/** The resources of the provider hashicorp/dns, which updates a name server by RFC 2136. */
const RESOURCES: Record<
  string,
  { resource: string; single: boolean; body(set: readonly PrintedRecord[]): Generator<string> }
> = {
  A: { resource: 'dns_a_record_set', ...list('addresses', ({ value }) => value) },
  AAAA: { resource: 'dns_aaaa_record_set', ...list('addresses', ({ value }) => value) },
  CNAME: { resource: 'dns_cname_record', ...one('cname') },
  MX: { resource: 'dns_mx_record_set', ...blocks('mx', 'preference', 'exchange') },
  NS: { resource: 'dns_ns_record_set', ...list('nameservers', ({ value }) => absolute(value)) },
  PTR: { resource: 'dns_ptr_record', ...one('ptr') },
  SRV: { resource: 'dns_srv_record_set', ...blocks('srv', 'priority', 'weight', 'port', 'target') },
  // put between quotes of presentation form as it is
  TXT: { resource: 'dns_txt_record_set', ...list('txt', ({ value }) => quoteBytes(Buffer.from(value)).slice(1, -1)) },
};

/** A name of a resource that no other host has. */
function labelOf(host: string): string {
  if (host === '@') return 'apex';
  const plain = host.replaceAll('.', '_').replace(/[^a-z0-9_-]/g, '-');
  const isPlain = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host) && host !== 'apex';
  return `host_${plain}${isPlain ? '' : `_${sha256(host).slice(0, 8)}`}`;
}

/** Why a record stands in a comment; empty: it does not. */
function reasonOf(record: PrintedRecord, first: PrintedRecord | undefined): string {
  if (!record.enabled) return 'disabled';
  const resource = RESOURCES[record.type];
  if (!resource || record.readOnly) return 'no resource for it';
  if (first && resource.single) return 'a resource has one value';
  return first && first.ttl !== record.ttl ? `a set has one TTL, here ${first.ttl}` : '';
}

function* written(set: readonly PrintedRecord[], zone: string): Generator<string> {
  const held: PrintedRecord[] = [];
  for (const record of set) {
    const reason = reasonOf(record, held[0]);
    if (reason) yield `# ${reason}: ${lineOf(record, zone)}\n`;
    else held.push(record);
    const more = reason ? '' : beside(record);
    if (more) yield `# without its ${more}: ${lineOf(record, zone)}\n`;
  }
  const [first] = held;
  const resource = first && RESOURCES[first.type];
  if (!resource) return;
  yield `resource "${resource.resource}" "${labelOf(first.host)}" {\n  zone = ${hcl(`${zone}.`)}\n`;
  if (first.host !== '@') yield `  name = ${hcl(first.host)}\n`;
  yield* resource.body(held);
  yield `  ttl = ${first.ttl}\n}\n\n`;
}

export const terraform: Printer = {
  contentType: 'text/plain; charset=utf-8',
  extension: 'tf',
  print: (zone) => ({
    head: `# ${zone}: ${NOT_HERE}
# routing lines, weights, proxied and remarks have no form here; disabled records stand in comments
# the provider hashicorp/dns has resources for A, AAAA, CNAME, MX, NS, PTR, SRV and TXT
terraform {
  required_providers {
    dns = {
      source = "hashicorp/dns"
    }
  }
}

`,
    *records(records) {
      for (const sets of setsOf(records)) for (const set of sets) yield* written(set, zone);
    },
    tail: () => '',
  }),
};
