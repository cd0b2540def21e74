import { readBody } from './recordings.js';
import type { Checker, Exchange } from './schemas.js';

interface Field {
  type: string;
  required?: boolean;
  optional?: boolean;
}
interface Parameter {
  name: string;
  in?: string;
  type?: string;
  optional?: boolean;
  doc?: string;
}
interface Operation {
  method?: string;
  path?: string;
  params?: Parameter[];
  query?: string[];
  args?: string;
  request?: string | null;
  response?: string | null;
  returns?: string[];
}
interface Model {
  protocol?: string;
  operations: Record<string, Operation>;
  types: Record<string, { fields?: Record<string, Field> }>;
}

type Node = Record<string, unknown>;
export const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Common parameters of RPC-style APIs. */
const RPC = /^(Action|Version|Format|AccessKeyId|Signature\w*|Timestamp|SecurityToken|RegionId|Nonce|Region)$/;
/** Checks of scalar types; `loose`: numbers and booleans may be sent as text. */
const SCALARS: Record<string, (value: unknown, loose: boolean) => boolean> = {
  string: (value, loose) => typeof value === 'string' || (loose && typeof value !== 'object'),
  number: (value, loose) => typeof value === 'number' || (loose && /^-?\d+(\.\d+)?$/.test(`${value}`)),
  boolean: (value, loose) => typeof value === 'boolean' || (loose && /^(true|false)$/i.test(`${value}`)),
};
const scalar = (type: string) =>
  /^(u?int\d*|integer|float\d*|number.*|bigint)$/.test(type)
    ? 'number'
    : type === 'bool' || type === 'boolean'
      ? 'boolean'
      : type;

/**
 * Checks exchanges against operations and models extracted from an official client: the operation exists, its fields
 * are known and of the right type, and required ones are present, in requests and answers. Names are those on the wire.
 */
export function modelChecker(document: object, base: string): Checker {
  const { operations, types, protocol = '' } = document as Model;
  const prefix = /https:\/\/[^/\s]+(\/\S*) \+ path/.exec(protocol)?.[1] ?? '';
  // models that never say "optional" mark required fields instead
  const marks = Object.values(types).some(({ fields }) => Object.values(fields ?? {}).some((field) => field.optional));
  const needed = ({ required = false, optional = false }: Field): boolean => required || (marks && !optional);

  /** @param loose values are texts, as in a query or a form */
  function complaints(type: string, value: unknown, where: string, loose = false): string[] {
    const list = /^(?:Array<(.*)>|\[\](.*)|(.*)\[\])$/.exec(type);
    const of = list?.slice(1).find((one) => one !== undefined);
    if (of !== undefined) return loose || value === null ? [] : ofList(of, value, where);
    const basic = SCALARS[scalar(type)];
    if (basic) return value === null || basic(value, loose) ? [] : [`${where} is no ${type}: ${JSON.stringify(value)}`];
    const fields = types[type.replace(/^\*/, '')]?.fields;
    if (!fields || value === null) return [];
    // in RPC-style APIs objects are sent as JSON text
    const text = loose && typeof value === 'string';
    const object = text ? readBody(value) : value;
    if (!isObject(object)) return [`${where} is no ${type}`];
    return fieldsOf(fields, object, where, loose && !text);
  }
  function ofList(type: string, value: unknown, where: string): string[] {
    if (!Array.isArray(value)) return [`${where} is no list`];
    return value.flatMap((one, i) => complaints(type, one, `${where}[${i}]`));
  }
  function fieldsOf(fields: Record<string, Field>, object: Node, where: string, loose = false): string[] {
    const given = Object.entries(object).filter(([, one]) => one !== undefined);
    return [
      ...given.filter(([name]) => !fields[name]).map(([name]) => `${where}.${name} is not described`),
      ...Object.entries(fields)
        .filter(([name, field]) => needed(field) && object[name] === undefined)
        .map(([name]) => `${where}.${name} is missing`),
      ...given.flatMap(([name, one]) => complaints(fields[name]?.type ?? '', one, `${where}.${name}`, loose)),
    ];
  }

  const templates = Object.entries(operations).flatMap(([name, one]) =>
    one.path ? [{ name, one, segments: (prefix + one.path).split('/').filter(Boolean) }] : [],
  );

  /** The requested operation, by its parameter or by its path. */
  function nameOf({ method, path, query, headers, body }: Exchange['request'], form: Node): string | undefined {
    const named = query.Action ?? headers['x-acs-action'] ?? headers['x-tc-action'] ?? form.Action;
    if (named !== undefined) return `${named}`;
    const segments = (base + path).split('/').filter(Boolean);
    const fits = templates.filter(
      ({ one, segments: template }) =>
        one.method === method &&
        template.length === segments.length &&
        template.every((part, i) => part.startsWith('{') || part === decodeURIComponent(segments[i] ?? '')),
    );
    // operations with the same path are distinguished by their query, or by whether they have a body
    const flagged = fits.find(({ one }) =>
      one.query?.some((key) => method !== 'GET' && key !== 'clientToken' && key in query),
    );
    const sending = fits.find(({ one }) => body !== undefined && bodyOf(one) !== undefined);
    return (flagged ?? sending ?? fits[0])?.name;
  }

  const inPath = ({ path = '' }: Operation, name: string) => path.includes(`{${name}}`);
  const bodyOf = ({ method, request, args = '' }: Operation): string | undefined =>
    method === 'GET' ? undefined : (types[request ?? '']?.fields?.body?.type ?? /body \*(\w+)/.exec(args)?.[1]);

  /** The fields beside the path and the declared body. */
  function askedOf(operation: Operation): Record<string, Field> {
    const { params = [], request } = operation;
    const described = (request && types[request]?.fields) || {};
    const asked: Record<string, Field> = {};
    for (const name of operation.query ?? []) asked[name] = { type: 'string', optional: true };
    // some clients declare each field as a parameter, and optional ones only in its description
    for (const { name, type = 'string', optional = false, doc = '', in: place = '' } of params)
      if (!/body|path/.test(place) && !inPath(operation, name))
        asked[name] = described[name] ?? { type, required: !optional && !/optional$|默认/.test(doc) };
    return asked;
  }

  /** Query and body of a request to a path-based API. */
  function sentTo(operation: Operation, { query, method }: Exchange['request'], sent: unknown): string[] {
    const asked = askedOf(operation);
    const whole = place(operation);
    if (whole && method !== 'GET') {
      const body = isObject(sent) ? fieldsOf(asked, sent, 'body') : [];
      return [...Object.keys(query).map((name) => `query ${name} is not described`), ...body];
    }
    const type = bodyOf(operation);
    const asking = fieldsOf(asked, query, 'query', true);
    if (sent === undefined) return type ? [...asking, 'the body is missing'] : asking;
    return [...asking, ...(type ? complaints(type, sent, 'body') : ['a body is not described'])];
  }
  /** Query and form of a request to an API whose operations are named. */
  function sentByName(type: string, { query, body }: Exchange['request'], form: Node): string[] {
    const all = [...Object.entries(query), ...Object.entries(form)].filter(([key]) => !RPC.test(key));
    // texts, except in JSON bodies
    return complaints(type, Object.fromEntries(all), 'request', !isObject(body));
  }
  /** Whether parameters outside the path are fields of the body, except for GET. */
  const place = ({ params, request, args }: Operation): boolean => !!params && !request && !args;

  function unwrapped(whole: unknown, { returns }: Operation): unknown {
    if (!isObject(whole)) return whole;
    if ('Response' in whole) return whole.Response;
    if ('ResponseMetadata' in whole) return whole.Result;
    return returns ? (whole.result ?? {}) : whole;
  }

  /** Checks an answer, without its envelope, against the declared type. */
  function answered(name: string, operation: Operation, { status = 200, body }: Exchange['answer']): string[] {
    if (status >= 300) return [];
    const inner = unwrapped(readBody(body), operation);
    if (isObject(inner) && 'Error' in inner) return [];
    const { returns, response = types[`${name}Response`] ? `${name}Response` : undefined } = operation;
    if (returns) {
      const words = returns.map((one) => one.split(' ') as [type: string, name: string]);
      const fields = Object.fromEntries(words.map(([type, field]) => [field, { type, required: true }]));
      return isObject(inner) ? fieldsOf(fields, inner, `${status}`) : [`${status} has no result`];
    }
    if (!response) return inner === undefined ? [] : [`${status}: a body is not described`];
    return complaints(response, inner ?? {}, `${status}`);
  }

  return ({ request, answer }) => {
    const sent = readBody(request.body);
    const form = isObject(sent) ? sent : {};
    const name = nameOf(request, form);
    const operation = name === undefined ? undefined : operations[name];
    const where = `${request.method} ${request.path}${operation?.path || !name ? '' : ` ${name}`}`;
    if (!name || !operation) return [`${where}: no such operation is described`];
    const method = operation.method ?? (protocol.startsWith('POST') ? 'POST' : request.method);
    const out = method === request.method ? [] : [`the method is ${method}`];
    if (operation.path) out.push(...sentTo(operation, request, sent));
    else if (operation.request) out.push(...sentByName(operation.request, request, form));
    if (!answer.injected) out.push(...answered(name, operation, answer));
    return out.map((complaint) => `${where}: ${complaint}`);
  };
}
