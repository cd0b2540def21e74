import type { Server } from './server.js';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked, not typed
export type Json = any;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export interface Operation {
  /** `POST /api/users` */
  name: string;
  method: string;
  path: string;
  operation: Json;
}

/** The description that a service gives of itself. */
export interface Description {
  document: Json;
  operations: Operation[];
  /** what a reference points at, and everything else as it is */
  resolve(node: Json): Json;
  /** status and schema of an operation's success */
  success(operation: Json): [string, Json];
  /** where a value is not what its schema says */
  mismatches(value: Json, schema: Json, at: string): string[];
}

const FORMATS: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  date: /^\d{4}-\d\d-\d\d$/,
};

export async function readDescription(server: Server): Promise<Description> {
  const document: Json = await (await fetch(`${server.url}/api/openapi.json`)).json();
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      operation: item[method],
    })),
  );
  const resolve = (node: Json): Json =>
    node?.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce((found: Json, key: string) => found?.[key], document)
      : node;
  const success = (operation: Json): [string, Json] => {
    const [status, response] = Object.entries<Json>(operation.responses).find(([s]) => s.startsWith('2')) ?? ['', {}];
    return [status, response.content?.['application/json']?.schema];
  };
  const mismatches = (value: Json, given: Json, at: string): string[] => {
    const schema = resolve(given) ?? {};
    const fits = (options: Json[]) => options.filter((o: Json) => !mismatches(value, o, at).length).length;
    if (schema.anyOf) return fits(schema.anyOf) ? [] : [`${at} fits no alternative`];
    if (schema.oneOf) return fits(schema.oneOf) === 1 ? [] : [`${at} fits ${fits(schema.oneOf)} alternatives, not one`];
    if (schema.allOf) return schema.allOf.flatMap((part: Json) => mismatches(value, part, at));
    const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    const types = [schema.type ?? kind].flat().map((t: string) => (t === 'integer' ? 'number' : t));
    if (!types.includes(kind)) return [`${at} is ${kind}, not ${types}`];
    if ('const' in schema && value !== schema.const) return [`${at} is not ${schema.const}`];
    if (schema.enum && !schema.enum.includes(value)) return [`${at} is none of ${schema.enum}`];
    if (kind === 'string') {
      for (const [format, pattern] of Object.entries(FORMATS)) {
        if ((schema.format === format) !== pattern.test(value)) return [`${at} and the format ${format}: ${value}`];
      }
    }
    if (kind === 'array') return value.flatMap((item: Json, i: number) => mismatches(item, schema.items, `${at}.${i}`));
    if (kind !== 'object' || !schema.properties) return [];
    const missing = (schema.required ?? []).filter((key: string) => !(key in value));
    const extra = Object.keys(value).filter((key) => !schema.properties[key] && !schema.additionalProperties);
    return [
      ...missing.map((key: string) => `${at}.${key} is missing`),
      ...extra.map((key) => `${at}.${key} is not described`),
      ...Object.keys(value).flatMap((key) => mismatches(value[key], schema.properties[key], `${at}.${key}`)),
    ];
  };
  return { document, operations, resolve, success, mismatches };
}
