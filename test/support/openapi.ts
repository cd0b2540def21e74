import type { Server } from './server.js';

/** A node of a description: an operation, an answer, a schema. Its fields depend on what it is. */
export interface Part {
  $ref: string;
  name: string;
  title: string;
  in: string;
  description: string;
  summary: string;
  operationId: string;
  tags: string[];
  security: object[];
  deprecated: boolean;
  parameters: Part[];
  requestBody: Part;
  responses: Record<string, Part>;
  headers: Record<string, Part>;
  content: Record<string, { schema: Part; example: object }>;
  schema: Part;
  type: string | string[];
  format: string;
  pattern: string;
  minimum: number;
  const: unknown;
  enum: unknown[];
  anyOf: Part[];
  oneOf: Part[];
  allOf: Part[];
  items: Part;
  properties: Record<string, Part>;
  additionalProperties: unknown;
  /** Names; of a parameter true. */
  required: string[];
}

/** The parts of an OpenAPI document used by tests. */
export interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string; description: string }[];
  /** By path and method. */
  paths: Record<string, Record<string, Part>>;
  components: {
    schemas: Record<string, Part>;
    responses: Record<string, Part>;
    securitySchemes: Record<string, { scheme: string }>;
  };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export interface Operation {
  /** `POST /api/users` */
  name: string;
  method: string;
  path: string;
  operation: Part;
}

/** The OpenAPI description of a service. */
export interface Description {
  document: Document;
  operations: Operation[];
  /** Resolves a reference; returns other nodes unchanged. */
  resolve(node: Part | undefined): Part;
  /** Status and schema of an operation's success. */
  success(operation: Part): [string, Part];
  /** Paths at which a value does not match its schema. */
  mismatches(value: unknown, schema: Part, at: string): string[];
}

const FORMATS: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  date: /^\d{4}-\d\d-\d\d$/,
};

export async function readDescription(server: Server): Promise<Description> {
  const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      operation: item[method],
    })),
  );
  const resolve = (node: Part | undefined): Part =>
    (node?.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], document)
      : node) as Part;
  const success = (operation: Part): [string, Part] => {
    const [status, response] = Object.entries(operation.responses).find(([s]) => s.startsWith('2')) ?? ['', {} as Part];
    return [status, response.content?.['application/json']?.schema];
  };
  const mismatches = (value: unknown, given: Part, at: string): string[] => {
    const schema = resolve(given) ?? ({} as Part);
    const fits = (options: Part[]) => options.filter((o) => !mismatches(value, o, at).length).length;
    if (schema.anyOf) return fits(schema.anyOf) ? [] : [`${at} fits no alternative`];
    if (schema.oneOf) return fits(schema.oneOf) === 1 ? [] : [`${at} fits ${fits(schema.oneOf)} alternatives, not one`];
    if (schema.allOf) return schema.allOf.flatMap((part) => mismatches(value, part, at));
    const wrong = mismatch(value, schema, at);
    if (wrong !== null) return [wrong];
    if (Array.isArray(value)) return value.flatMap((item: unknown, i) => mismatches(item, schema.items, `${at}.${i}`));
    if (kindOf(value) !== 'object' || !schema.properties) return [];
    return ofObject(value as Record<string, unknown>, schema, at);
  };
  const ofObject = (object: Record<string, unknown>, schema: Part, at: string): string[] => {
    const missing = (schema.required ?? []).filter((key) => !(key in object));
    const extra = Object.keys(object).filter((key) => !schema.properties[key] && !schema.additionalProperties);
    return [
      ...missing.map((key) => `${at}.${key} is missing`),
      ...extra.map((key) => `${at}.${key} is not described`),
      ...Object.keys(object).flatMap((key) => mismatches(object[key], schema.properties[key], `${at}.${key}`)),
    ];
  };
  return { document, operations, resolve, success, mismatches };
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** What is wrong with a value itself, without what it holds; null: nothing. */
function mismatch(value: unknown, schema: Part, at: string): string | null {
  const kind = kindOf(value);
  const types = [schema.type ?? kind].flat().map((t) => (t === 'integer' ? 'number' : t));
  if (!types.includes(kind)) return `${at} is ${kind}, not ${types}`;
  if ('const' in schema && value !== schema.const) return `${at} is not ${schema.const}`;
  if (schema.enum && !schema.enum.includes(value)) return `${at} is none of ${schema.enum}`;
  if (typeof value !== 'string') return null;
  const wrong = Object.entries(FORMATS).find(([name, pattern]) => (schema.format === name) !== pattern.test(value));
  return wrong ? `${at} and the format ${wrong[0]}: ${value}` : null;
}
