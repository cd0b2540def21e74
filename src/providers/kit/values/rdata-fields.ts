import { absolute } from '../../../dns/names.js';
import type { DnsRecord } from '../../../dns/record.js';
import { quoteBytes, tokens } from '../../../dns/text.js';

/**
 * The parts of rdata in their order: `#` is a number, `"` a quoted text, `.` a name, `*` all the rest, else a word.
 * Types that are one value (addresses, names, texts) are none of these.
 */
const PARTS: Record<string, string> = {
  MX: '#priority .target',
  SRV: '#priority #weight #port .target',
  CAA: '#flags tag "value',
  URI: '#priority #weight "target',
  SVCB: '#priority .target *value',
  HTTPS: '#priority .target *value',
  TLSA: '#usage #selector #matching_type *certificate',
  SSHFP: '#algorithm #type *fingerprint',
  DNSKEY: '#flags #protocol #algorithm *public_key',
  SMIMEA: '#usage #selector #matching_type *certificate',
  DS: '#key_tag #algorithm #digest_type *digest',
  NAPTR: '#order #preference "flags "service "regexp .replacement',
};

interface FieldOptions {
  /** the vendor's names of parts, where they are others than in the RFCs: `{target: 'data', value: 'data'}` */
  names?: Record<string, string>;
  /** parts without a name of the vendor's own are written so: `MatchingType` */
  pascal?: boolean;
  /** names are sent absolute, with their final dot */
  dots?: boolean;
}

const toPascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());

type Fields = Record<string, string | number>;

/**
 * Between the rdata of the service and a vendor that wants each part of it in a field of its own.
 * @example typedFields().of({type: 'SRV', priority: 10, value: '5 5060 sip.example.net'})
 *   // {priority: 10, weight: 5, port: 5060, target: 'sip.example.net'}
 */
export function typedFields({ names = {}, pascal = false, dots = false }: FieldOptions = {}) {
  const parts = (type: string) =>
    (PARTS[type] ?? '')
      .split(' ')
      .filter(Boolean)
      .map((part) => {
        const [, kind, name] = /^([#".*]?)(.*)$/.exec(part) as unknown as [string, string, string];
        return { kind, name: names[name] ?? (pascal ? toPascal(name) : name) };
      });
  return {
    /** The fields of a record; null for types that are one value. */
    of({ type, value, priority }: Pick<DnsRecord, 'type' | 'value' | 'priority'>): Fields | null {
      const all = parts(type);
      if (!all.length) return null;
      const rdata = type === 'MX' || type === 'SRV' ? `${priority ?? 0} ${value}` : value;
      const words = tokens(rdata) ?? [];
      return Object.fromEntries(
        all.map(({ kind, name }, i) => {
          const word = words[i]?.text ?? '';
          if (kind === '#') return [name, Number(word)];
          if (kind === '*') return [name, rdata.split(' ').slice(i).join(' ')];
          return [name, kind === '.' && dots ? absolute(word) : word];
        }),
      );
    },

    /** rdata in presentation form of what a vendor answered; null when a field is missing, or there are none. */
    rdata(type: string, fields: Record<string, unknown> | null | undefined): string | null {
      const words = parts(type).map(({ kind, name }) => {
        const field = fields?.[name];
        if (field === undefined || field === null) return null;
        return kind === '"' ? quoteBytes(Buffer.from(String(field), 'utf8')) : String(field);
      });
      return words.length && !words.includes(null) ? words.join(' ').trim() : null;
    },

    /** rdata of a text that has the parts with a blank between them, with or without the quotes that some need. */
    spaced(type: string, text: string): string {
      const all = parts(type);
      if (!all.some(({ kind }) => kind === '"')) return text;
      const words = text.split(' ');
      const bare = (word: string) => word.replace(/^"(.*)"$/, '$1');
      const fields = all.map(({ name }, i) => [name, bare(words.slice(i, all[i + 1] ? i + 1 : undefined).join(' '))]);
      return this.rdata(type, words.length < all.length ? null : Object.fromEntries(fields)) ?? text;
    },
  };
}
