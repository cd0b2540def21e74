import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { modelChecker } from './models.js';
import { readBody } from './recordings.js';
import { serviceChecker } from './shapes.js';
import { type Answer, type Received, samplesDemanded, sharedFile } from './vendor.js';

/** A request to a stand-in and its answer. */
export interface Exchange {
  request: Received;
  answer: Answer;
}

/** Returns the mismatches between an exchange and a description; empty if none. */
export type Checker = (exchange: Exchange) => string[];

type Node = Record<string, unknown>;
const node = (value: unknown): Node => (typeof value === 'object' && value !== null ? (value as Node) : {});
const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const named = (value: unknown): [string, Node][] => Object.entries(node(value)) as [string, Node][];

/** The file of a description, with or without `.json` in the name. */
const fileOf = (file: string) => sharedFile(`provider-schemas/${file.replace(/(\.json)?$/, '.json')}`);

/** A reason not to check, or false. */
export const noDescription = (file: string): string | false =>
  existsSync(fileOf(file)) || samplesDemanded
    ? false
    : 'no descriptions: set ZONEWARD_SHARED to the folder that holds provider-schemas/';

/**
 * A checker of exchanges for an API.
 * @param file its description in `provider-schemas`
 * @param parts PATCH accepts a part of the described body
 * @param base prefix of the stand-in's paths in those of the API
 */
export function describedBy(file: string, base: string, parts = false): Checker {
  const document = JSON.parse(readFileSync(fileOf(file), 'utf8')) as Node;
  if (document.shapes) return serviceChecker(document, base);
  if (document.operations) return modelChecker(document, base);
  return openapiChecker(document, base, parts);
}

/** Expected request and answer of one operation. */
interface Operation {
  method: string;
  segments: string[];
  query: Map<string, { schema: Node; required: boolean }>;
  /** null: no body; undefined schema: any. */
  body: { schema: Node | undefined; required: boolean } | null;
  answers: [status: string, schema: Node | null][];
}

/**
 * A schema converted to JSON Schema: `nullable`, exclusive limits as numbers, references into the document, without
 * annotations. Properties that only the other side writes are not required.
 */
type Side = 'request' | 'part' | 'answer';

function plain(value: unknown, side: Side, foreign: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(one, side, foreign));
  if (!isObject(value)) return value;
  const out: Node = {};
  for (const [key, one] of Object.entries(value)) {
    const limit = LIMITS[key];
    if (key === '$ref' && typeof one === 'string') out.$ref = one.startsWith('#') ? `doc${one}` : `doc#/schemas/${one}`;
    else if (limit) Object.assign(out, exclusive(key, one, value[limit]));
    else if (!isAnnotation(key, one)) out[key] = plain(one, side, foreign);
  }
  return suitedTo(side, out, foreign, value.nullable === true);
}

const LIMITS: Record<string, string | undefined> = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' };

/** An exclusive limit as a number, which may be said of the other limit. */
function exclusive(key: string, one: unknown, limit: unknown): Node {
  if (typeof one === 'number') return { [key]: one };
  return one === true ? { [key]: limit } : {};
}

function isAnnotation(key: string, one: unknown): boolean {
  if (['example', 'examples', 'discriminator', 'default'].includes(key)) return true;
  if (key === 'required') return !Array.isArray(one) && !isObject(one);
  return (key === 'id' || key === '$schema') && typeof one === 'string';
}

function suitedTo(side: Side, out: Node, foreign: ReadonlySet<string>, nullable: boolean): Node {
  if (Array.isArray(out.required))
    out.required = out.required.filter((name) => side !== 'part' && !foreign.has(`${name}`));
  // an answer may always have more fields than described, and may match several alternatives
  if (side === 'answer' && out.additionalProperties === false) delete out.additionalProperties;
  if (Array.isArray(out.oneOf)) {
    out.allOf = [...((out.allOf as unknown[] | undefined) ?? []), { anyOf: out.oneOf }];
    delete out.oneOf;
  }
  if (out.type === 'any') delete out.type;
  if (!nullable) return out;
  delete out.nullable;
  return { anyOf: [{ type: 'null' }, out] };
}

/** Names of all properties that only the other side writes. */
function writtenBy(document: Node, flag: 'readOnly' | 'writeOnly', at: (part: unknown) => Node): Set<string> {
  const names = new Set<string>();
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit);
    else if (isObject(part)) {
      for (const [name, one] of named(part.properties)) if (at(one)[flag] === true) names.add(name);
      Object.values(part).forEach(visit);
    }
  };
  visit(document);
  return names;
}

const withoutNull = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutNull)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key, withoutNull(one)]])),
        )
      : value;

function openapiChecker(document: Node, base: string, parts: boolean): Checker {
  /** A node with its top-level references resolved. */
  const at = (part: unknown): Node => {
    let now = node(part);
    while (typeof now.$ref === 'string') {
      const path = now.$ref.startsWith('#') ? now.$ref.slice(2).split('/') : ['schemas', now.$ref];
      now = path.reduce((where, key) => node(where[key.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
    }
    return now;
  };
  const foreign = { request: writtenBy(document, 'readOnly', at), answer: writtenBy(document, 'writeOnly', at) };
  const validators = new Map<Side, { ajv: Ajv; compiled: Map<Node, ValidateFunction> }>();
  const suited = (side: Side, schema: Node) =>
    plain(schema, side, foreign[side === 'answer' ? 'answer' : 'request']) as Node;
  for (const side of ['request', 'part', 'answer'] as const) {
    const ajv = new Ajv({ strict: false, validateSchema: false, unicodeRegExp: false, logger: false, allErrors: true });
    formats.default(ajv);
    // DNS names need not be host names: the root, wildcards, underscores
    ajv.addFormat('hostname', /^\S+$/);
    validators.set(side, { ajv: ajv.addSchema(suited(side, document), 'doc'), compiled: new Map() });
  }
  function once(schema: Node, value: unknown, side: Side): string[] {
    const { ajv, compiled } = validators.get(side) as { ajv: Ajv; compiled: Map<Node, ValidateFunction> };
    const validate = compiled.get(schema) ?? ajv.compile(suited(side, schema));
    compiled.set(schema, validate);
    if (validate(value)) return [];
    const extra = (e: { params: Node }) => (e.params.additionalProperty ? ` (${e.params.additionalProperty})` : '');
    return (validate.errors ?? []).map((e) => `${e.instancePath || '/'} ${e.message}${extra(e)}`);
  }
  /** Many descriptions omit that an answer's field may be null; null is accepted where a field may be missing. */
  function errors(schema: Node, value: unknown, side: Side): string[] {
    const found = once(schema, value, side);
    const less = found.length && side === 'answer' ? once(schema, withoutNull(value), side) : found;
    return less.length < found.length ? less : found;
  }
  const operations = operationsOf(document, at);

  /** Known fields of an object schema; null if it accepts any. */
  function known(schema: unknown): Map<string, Node> | null {
    const here = at(schema);
    const names = new Map(named(here.properties));
    if (here.additionalProperties && !names.size) return null;
    for (const branch of ['allOf', 'oneOf', 'anyOf'].flatMap((key) => (here[key] as Node[] | undefined) ?? [])) {
      const more = known(branch);
      if (!more) return null;
      for (const [name, one] of more) {
        const before = names.get(name);
        names.set(name, before ? { anyOf: [before, one] } : one);
      }
    }
    return names;
  }
  /** Undescribed fields: descriptions seldom forbid them, but they have no effect. */
  function unknown(schema: unknown, value: unknown, path: string): string[] {
    const here = at(schema);
    if (Array.isArray(value)) return value.flatMap((one, i) => unknown(here.items, one, `${path}/${i}`));
    if (!isObject(value)) return [];
    const names = known(here);
    if (!names?.size) return [];
    return Object.entries(value).flatMap(([key, one]) => {
      const field = names.get(key);
      return field ? unknown(field, one, `${path}/${key}`) : [`${path}/${key} is not described`];
    });
  }

  function asked(operation: Operation, query: Exchange['request']['query']): string[] {
    const out: string[] = [];
    for (const [name, value] of Object.entries(query)) {
      const parameter = operation.query.get(name) ?? operation.query.get(`${name}[]`);
      if (!parameter) out.push(`query ${name} is not described`);
      else out.push(...queryErrors(parameter.schema, value, errors).map((error) => `query ${name}: ${error}`));
    }
    for (const [name, { required }] of operation.query)
      if (required && !(name in query)) out.push(`query ${name} is missing`);
    return out;
  }

  return ({ request, answer }) => {
    const segments = (base + request.path).split('/').filter(Boolean);
    const fits = ({ segments: template }: Operation) =>
      template.length === segments.length &&
      template.every((part, i) => part.startsWith('{') || part === decodeURIComponent(segments[i] ?? ''));
    const literal = ({ segments: template }: Operation) => template.filter((part) => !part.startsWith('{')).length;
    const paths = operations.filter(fits).toSorted((a, b) => literal(b) - literal(a));
    const operation = paths.find(({ method }) => method === request.method.toLowerCase());
    const where = `${request.method} ${request.path}`;
    if (!operation) return [`${where}: no such operation is described`];
    const out = asked(operation, request.query);
    const body = readBody(request.body);
    if (body !== undefined && !operation.body) out.push('a body is not described');
    // some descriptions require a body for DELETE
    if (body === undefined && operation.body?.required && request.method !== 'DELETE') out.push('the body is missing');
    if (body !== undefined && operation.body?.schema) {
      const { schema } = operation.body;
      const side = parts && request.method === 'PATCH' ? 'part' : 'request';
      out.push(...errors(schema, body, side).map((error) => `body: ${error}`));
      out.push(...unknown(schema, body, '').map((error) => `body: ${error}`));
    }
    if (!answer.injected)
      out.push(
        ...answerErrors(operation, answer, (schema, value) => [
          ...errors(schema, value, 'answer'),
          ...((answer.status ?? 200) < 300 ? unknown(schema, value, '') : []),
        ]),
      );
    return out.map((complaint) => `${where}: ${complaint}`);
  };
}

/** A query value is text, and may be parsed as a number, a boolean, or a list. */
function queryErrors(
  schema: Node,
  value: string,
  errors: (schema: Node, value: unknown, side: Side) => string[],
): string[] {
  const forms: unknown[] = [
    value,
    [value],
    ...(/^-?\d+(\.\d+)?$/.test(value) ? [Number(value)] : []),
    ...(/^(true|false)$/.test(value) ? [value === 'true'] : []),
  ];
  const all = forms.map((form) => errors(schema, form, 'request'));
  return all.some((list) => !list.length) ? [] : (all.at(-1) ?? []);
}

function answerErrors(
  operation: Operation,
  answer: Answer,
  errors: (schema: Node, value: unknown) => string[],
): string[] {
  const status = `${answer.status ?? 200}`;
  const found =
    operation.answers.find(([code]) => code === status) ??
    operation.answers.find(([code]) => code.toLowerCase() === `${status[0]}xx`) ??
    operation.answers.find(([code]) => code === 'default');
  if (!found) return status.startsWith('2') ? [`the status ${status} is not described`] : [];
  const [, schema] = found;
  const body = readBody(answer.body);
  if (!schema) return body === undefined || !status.startsWith('2') ? [] : [`${status}: a body is not described`];
  if (typeof body === 'string' && !status.startsWith('2')) return [];
  return errors(schema, body).map((error) => `${status}: ${error}`);
}

/** The operations of a description: OpenAPI 3, Swagger 2, or a Google discovery document. */
function operationsOf(document: Node, at: (part: unknown) => Node): Operation[] {
  if (document.resources) return discovery(document);
  const server = node((document.servers as Node[] | undefined)?.[0]).url ?? '';
  const prefix =
    `${document.basePath ?? (`${server}`.startsWith('/') ? server : new URL(`${server}`).pathname)}`.replace(/\/$/, '');
  const json = (content: unknown): Node | undefined => {
    const types = named(content);
    const type = types.find(([name]) => name.includes('json')) ?? types[0];
    return type && at(type[1]).schema ? (at(type[1]).schema as Node) : undefined;
  };
  return named(document.paths).flatMap(([path, item]) =>
    named(item).flatMap(([method, operation]) => {
      if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) return [];
      const parameters = [
        ...((item.parameters as unknown[] | undefined) ?? []),
        ...((operation.parameters as unknown[] | undefined) ?? []),
      ].map(at);
      const query = new Map(
        parameters
          .filter((p) => p.in === 'query')
          .map((p) => [`${p.name}`, { schema: node(p.schema ?? p), required: p.required === true }]),
      );
      const old = parameters.find((p) => p.in === 'body');
      const sent = operation.requestBody ? at(operation.requestBody) : undefined;
      const body = old
        ? { schema: node(old.schema), required: old.required === true }
        : sent
          ? { schema: json(sent.content), required: sent.required === true }
          : null;
      const answers = named(operation.responses).map(([status, one]): [string, Node | null] => {
        const answer = at(one);
        return [status, (answer.schema ? node(answer.schema) : json(answer.content)) ?? null];
      });
      return [{ method, segments: `${prefix}${path}`.split('/').filter(Boolean), query, body, answers }];
    }),
  );
}

function discovery(document: Node): Operation[] {
  const common = named(document.parameters);
  return named(document.resources).flatMap(([, resource]) =>
    named(resource.methods).map(([, method]): Operation => {
      const parameters = [...common, ...named(method.parameters)];
      const query = parameters.filter(([, p]) => p.location === 'query');
      const response = method.response ? node(method.response) : null;
      return {
        method: `${method.httpMethod}`.toLowerCase(),
        segments: `${method.flatPath ?? method.path}`.split('/').filter(Boolean),
        query: new Map(query.map(([name, schema]) => [name, { schema, required: schema.required === true }])),
        body: method.request ? { schema: node(method.request), required: true } : null,
        answers: [['2XX', response]],
      };
    }),
  );
}
