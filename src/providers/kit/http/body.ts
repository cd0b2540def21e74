import { createRequire } from 'node:module';
import type { XMLBuilder, XMLParser } from 'fast-xml-parser';
import { parseJson } from '../../../platform/common/json-weight.js';
import { clipped } from './errors.js';

/** In what form answers come; requests say it by the option that their body is given in. */
export type Form = 'json' | 'xml' | 'text';

/** One of them at most. */
export interface RequestBody {
  json?: unknown;
  /** `application/x-www-form-urlencoded`; what is undefined is left out */
  form?: Record<string, string | number | boolean | undefined>;
  /** a document; names that begin with `@` are attributes */
  xml?: object;
  /** as it is */
  text?: string;
}

/** The body of a request and its content type. */
export function encode({ json, form, xml, text }: RequestBody): { body?: string; type?: string } {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  if (form) return { body: parameters(form).toString(), type: 'application/x-www-form-urlencoded' };
  if (xml)
    return { body: `<?xml version="1.0" encoding="UTF-8"?>${xmlTools().builder.build(xml)}`, type: 'application/xml' };
  return text === undefined ? {} : { body: text, type: 'text/plain; charset=utf-8' };
}

/** Query or form; what is undefined is left out. */
export const parameters = (all: object): URLSearchParams =>
  new URLSearchParams(
    Object.entries(all).flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, `${value}`]])),
  );

let tools: { parser: XMLParser; builder: XMLBuilder } | undefined;

/** Loaded with the first document: most installations have no provider that speaks XML. */
function xmlTools() {
  if (tools) return tools;
  const xml: typeof import('fast-xml-parser') = createRequire(import.meta.url)('fast-xml-parser');
  // all values stay texts: "007" is no number, and a TTL is parsed where it is known to be one
  const parser = new xml.XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    parseAttributeValue: false,
    removeNSPrefix: true,
    htmlEntities: true,
    ignoreDeclaration: true,
    // blanks around the text of an element are layout, those in an attribute are content
    trimValues: false,
    tagValueProcessor: (_name, text) => text.trim(),
  });
  tools = { parser, builder: new xml.XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@' }) };
  return tools;
}

/**
 * An answer's document; undefined when it is empty. Of XML: elements by name, several of one name as a list (see
 * `listOf`), attributes with `@` before their name, all values as text.
 * @throws Error for one that is cut, of another form, or nested too deeply
 */
export function decode(text: string, form: Form): unknown {
  if (form === 'text') return text;
  if (text === '') return undefined;
  return form === 'json' ? parseJson(text) : xmlTools().parser.parse(text, true);
}

/** Elements of one name in a document of XML, be there none, one or several. */
export const listOf = <T>(node: T | T[] | '' | undefined): T[] =>
  Array.isArray(node) ? node : node === undefined || node === '' ? [] : [node];

/** Attributes of an element, by their names without `@`. */
export const attributesOf = (element: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(element).flatMap(([name, value]) => (name[0] === '@' ? [[name.slice(1), value]] : [])),
  );

/**
 * Fields of entries for a form that numbers them: `HostName1`, `TTL1`, `HostName2` …
 * @param names of fields that are others in the form
 */
export const numbered = (entries: readonly object[], names: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    entries.flatMap((entry, i) =>
      Object.entries(entry).map(([name, value]): [string, string] => [`${names[name] ?? name}${i + 1}`, value]),
    ),
  );

/** Elements of one name in the element that holds the list; undefined where that is missing: the answer is cut. */
export const listIn = <T, K extends string>(
  list: { [key in K]?: T | T[] } | '' | undefined,
  key: K,
): T[] | undefined => (list === undefined ? undefined : list === '' ? [] : listOf<T>(list[key]));

/** So much of an answer of another form is repeated at most. */
export const FOREIGN_CHARACTERS = 100;

/** Words of a gateway that answered errors in plain text; nothing of a document of any form. */
export const plainWords = (text: string): string | undefined =>
  text && !/^\s*[<{[]/.test(text) ? clipped(text.trim(), FOREIGN_CHARACTERS) : undefined;
