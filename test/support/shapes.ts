import { isObject } from './models.js';
import { readBody } from './recordings.js';
import type { Checker, Exchange } from './schemas.js';

interface Member {
  shape: string;
  location?: string;
  locationName?: string;
  flattened?: boolean;
}
interface Shape {
  type: string;
  required?: string[];
  members?: Record<string, Member>;
  member?: Member;
  enum?: string[];
  min?: number;
  max?: number;
}
interface Operation {
  name: string;
  http: { method: string; requestUri: string };
  input?: { shape: string; locationName?: string; xmlNamespace?: { uri: string } };
  output?: { shape: string };
}
interface Service {
  operations: Record<string, Operation>;
  shapes: Record<string, Shape>;
}

const SCALARS: Record<string, RegExp> = {
  ...{ integer: /^-?\d+$/, long: /^-?\d+$/, boolean: /^(true|false)$/, timestamp: /^\d{4}-\d\d-\d\dT/ },
  ...{ float: /^-?\d+(\.\d+)?$/, double: /^-?\d+(\.\d+)?$/, string: /^/ },
};
const elementsOf = (value: object) => Object.entries(value).filter(([key]) => !/^([@?]|#text$)/.test(key));

function scalar(shape: Shape, value: unknown, where: string): string[] {
  if (typeof value !== 'string' || !SCALARS[shape.type]?.test(value)) return [`${where} is no ${shape.type}`];
  if (shape.enum && !shape.enum.includes(value)) return [`${where} is none of ${shape.enum.slice(0, 20)}`];
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = shape;
  const size = shape.type === 'string' ? value.length : Number(value);
  return size < min || size > max ? [`${where} is out of bounds: ${value}`] : [];
}

/**
 * Checks XML exchanges against a service model of botocore: every element is known and of its type, none is missing.
 */
export function serviceChecker(document: object, base: string): Checker {
  const { operations, shapes } = document as Service;

  function complaints({ shape: name, flattened }: Member, value: unknown, where: string): string[] {
    const shape = shapes[name] as Shape;
    if (shape.type === 'structure') return structure(shape, value, where);
    return shape.type === 'list' ? list(shape, value, where, flattened) : scalar(shape, value, where);
  }
  function list(shape: Shape, value: unknown, where: string, flattened: Member['flattened']): string[] {
    const member = shape.member as Member;
    const inner = member.locationName ?? 'member';
    const strange = isObject(value) && !flattened ? elementsOf(value).filter(([key]) => key !== inner) : [];
    const one = flattened ? value : isObject(value) ? value[inner] : undefined;
    const all = one === undefined ? [] : [one].flat();
    return [
      ...strange.map(([key]) => `${where}.${key} is not described`),
      ...(all.length < (shape.min ?? 0) ? [`${where} has less than ${shape.min}`] : []),
      ...all.flatMap((entry, i) => complaints(member, entry, `${where}[${i}]`)),
    ];
  }
  const structure = (shape: Shape, value: unknown, where: string): string[] => {
    const members = Object.entries(shape.members ?? {}).filter(([, { location }]) => !location);
    return fieldsOf(shape, members, value === '' ? {} : value, where);
  };
  function fieldsOf({ required = [] }: Shape, members: [string, Member][], value: unknown, where: string): string[] {
    if (!isObject(value)) return [`${where} is no structure`];
    const wire = new Map(members.map(([name, member]) => [member.locationName ?? name, { name, member }]));
    return [
      ...elementsOf(value).flatMap(([key, one]) => {
        const known = wire.get(key);
        return known ? complaints(known.member, one, `${where}.${key}`) : [`${where}.${key} is not described`];
      }),
      ...[...wire]
        .filter(([key, { name }]) => required.includes(name) && !(key in value))
        .map(([key]) => `${where}.${key} is missing`),
    ];
  }
  /** Checks a document and the name of its root. */
  function rooted(name: string, shape: Shape, body: unknown, where: string): string[] {
    const root = isObject(body) ? body : {};
    const other = elementsOf(root).find(([key]) => key !== name);
    return other || !(name in root) ? [`${where} is no ${name}`] : structure(shape, root[name], where);
  }

  function sent({ input, name: own }: Operation, asked: Shape, body: unknown): string[] {
    const name = input?.locationName ?? own;
    const root = isObject(body) && isObject(body[name]) ? body[name] : {};
    const wrong = rooted(name, asked, body, 'body');
    if (root['@xmlns'] !== input?.xmlNamespace?.uri) wrong.push('the namespace of the body is another one');
    return wrong;
  }

  const segmentsOf = (path: string) => path.split('/').filter(Boolean);
  const find = ({ method, path }: Exchange['request']) =>
    Object.values(operations).find(({ http }) => {
      const [template, segments] = [segmentsOf(http.requestUri), segmentsOf(base + path)];
      const fits = template.every((part, i) => part.startsWith('{') || part === segments[i]);
      return http.method === method && template.length === segments.length && fits;
    });

  return ({ request, answer }) => {
    const operation = find(request);
    const where = `${request.method} ${request.path}`;
    if (!operation) return [`${where}: no such operation is described`];
    const { input, output } = operation;
    const asked = input ? (shapes[input.shape] as Shape) : { type: 'structure' };
    const members = Object.entries(asked.members ?? {});
    const inQuery = members.filter(([, { location }]) => location === 'querystring');
    const out = fieldsOf(asked, inQuery, request.query, 'query');
    const body = readBody(request.body);
    if (members.some(([, { location }]) => !location)) out.push(...sent(operation, asked, body));
    else if (body !== undefined) out.push('a body is not described');
    if (!answer.injected && (answer.status ?? 200) < 300 && output)
      out.push(
        ...rooted(output.shape, shapes[output.shape] as Shape, readBody(answer.body), `${answer.status ?? 200}`),
      );
    return out.map((complaint) => `${where}: ${complaint}`);
  };
}
