import { readBody } from './recordings.js';
import type { Checker } from './schemas.js';

interface Field {
  type: string;
  required?: boolean;
  optional?: boolean;
}
interface Operation {
  method?: string;
  path?: string;
  url?: string;
  params?: { name: string; in?: string; type?: string }[];
  query?: string[];
  args?: string;
  request?: string | null;
  response?: string | null;
}
interface Model {
  protocol?: string;
  operations: Record<string, Operation>;
  types: Record<string, { fields?: Record<string, Field> }>;
}

type Node = Record<string, unknown>;
const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parameters of the RPC style that say who asks for what. */
const RPC = /^(Action|Version|Format|AccessKeyId|Signature\w*|Timestamp|SecurityToken|RegionId|Nonce|Region)$/;
/** of numbers that travel as text, of truth values too */
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
 * Checks exchanges against operations and models as they were read from an official client: the operation is there, its
 * fields are known and of their type, and what is required is there. The names are those on the wire.
 */
export function modelChecker(document: object, base: string): Checker {
  const { operations, types, protocol = '' } = document as Model;
  const prefix = /https:\/\/[^/\s]+(\/\S*) \+ path/.exec(protocol)?.[1] ?? '';

  /** @param loose values are texts, as in a query or a form */
  function complaints(type: string, value: unknown, where: string, loose: boolean, whole: boolean): string[] {
    const list = /^(?:Array<(.*)>|\[\](.*)|(.*)\[\])$/.exec(type);
    const of = list?.slice(1).find((one) => one !== undefined);
    if (of !== undefined) {
      if (loose) return [];
      if (!Array.isArray(value)) return [`${where} is no list`];
      return value.flatMap((one, i) => complaints(of, one, `${where}[${i}]`, false, whole));
    }
    const basic = SCALARS[scalar(type)];
    if (basic) return value === null || basic(value, loose) ? [] : [`${where} is no ${type}: ${JSON.stringify(value)}`];
    const fields = types[type.replace(/^\*/, '')]?.fields;
    if (!fields || value === null) return [];
    // objects travel as the text of a document in the RPC style
    const object = loose && typeof value === 'string' ? readBody(value) : value;
    if (!isObject(object)) return [`${where} is no ${type}`];
    const unknown = Object.keys(object).filter((name) => !(name in fields));
    const missing = Object.entries(fields).filter(([name, field]) => whole && needed(field, type) && !(name in object));
    return [
      ...unknown.map((name) => `${where}.${name} is not described`),
      ...missing.map(([name]) => `${where}.${name} is missing`),
      ...Object.entries(object).flatMap(([name, one]) => {
        const field = fields[name];
        return field && one !== undefined
          ? complaints(field.type, one, `${where}.${name}`, loose && typeof object !== 'string', whole)
          : [];
      }),
    ];
  }
  const needed = (field: Field, type: string): boolean =>
    Object.values(types[type]?.fields ?? {}).some((one) => one.required)
      ? field.required === true
      : marks && !field.optional && !field.required
        ? true
        : field.required === true;
  // models that never say "optional" say "required" where it is so
  const marks = Object.values(types).some(({ fields }) => Object.values(fields ?? {}).some((field) => field.optional));

  const templates = Object.entries(operations).flatMap(([name, one]) =>
    one.path ? [{ name, one, segments: (prefix + one.path).split('/').filter(Boolean) }] : [],
  );

  return ({ request, answer }) => {
    const { query, headers, method } = request;
    const sent = readBody(request.body);
    const form = isObject(sent) ? sent : {};
    const named =
      query.Action ?? headers['x-acs-action'] ?? headers['x-tc-action'] ?? (form.Action as string | undefined);
    const segments = (base + request.path).split('/').filter(Boolean);
    const fits = templates.filter(
      ({ one, segments: template }) =>
        one.method === method &&
        template.length === segments.length &&
        template.every((part, i) => part.startsWith('{') || part === decodeURIComponent(segments[i] ?? '')),
    );
    // several operations of one path are told apart by their query
    const flag =
      fits.find(({ one }) => one.query?.some((key) => key in query && key !== 'clientToken' && method !== 'GET')) ??
      fits.find(({ one }) => /body/.test(one.args ?? '')) ??
      fits[0];
    const name = named === undefined ? flag?.name : `${named}`;
    const operation = name === undefined ? undefined : operations[name];
    const where = `${method} ${request.path}${named ? ` ${named}` : ''}`;
    if (!operation) return [`${where}: no such operation is described`];
    const out: string[] = [];

    const { params } = operation;
    if (operation.path) {
      const known = operation.query ?? params?.filter((p) => p.in === 'query' || !p.in).map((p) => p.name) ?? [];
      for (const key of Object.keys(query)) if (!known.includes(key)) out.push(`query ${key} is not described`);
      const request = operation.request
        ? types[operation.request]?.fields?.body?.type
        : /body \*(\w+)/.exec(operation.args ?? '')?.[1];
      const model = request ?? operation.request ?? undefined;
      if (isObject(sent) && model && method !== 'GET') out.push(...complaints(model, sent, 'body', false, true));
      if (isObject(sent) && !model && params) {
        // jdcloud: what is one field of its own, or all of them in `req`
        const names = params.map((p) => p.name);
        for (const key of Object.keys(sent)) if (!names.includes(key)) out.push(`body.${key} is not described`);
      }
    } else if (operation.request) {
      const all = Object.fromEntries(
        [...Object.entries(query), ...Object.entries(form)].filter(([key]) => !RPC.test(key)),
      );
      // V3 of Alibaba and V1 send texts; JSON bodies have types
      const loose = !isObject(request.body);
      out.push(...complaints(operation.request, all, 'request', loose, true));
    }

    const status = answer.status ?? 200;
    if (!answer.injected && status < 300 && operation.response && answer.body !== undefined) {
      const body = readBody(answer.body);
      const inner =
        isObject(body) && isObject(body.Response)
          ? body.Response
          : isObject(body) && 'ResponseMetadata' in body
            ? body.Result
            : body;
      const failed = isObject(inner) && ('Error' in inner || 'error' in inner);
      if (!failed && inner !== undefined) out.push(...complaints(operation.response, inner, `${status}`, false, false));
    }
    return out.map((complaint) => `${where}: ${complaint}`);
  };
}
