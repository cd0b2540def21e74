import type { Json } from './failures.js';

const isRef = (schema: unknown): schema is { $ref: string } =>
  typeof (schema as { $ref?: unknown } | undefined)?.$ref === 'string';
const nameOf = ({ $ref }: { $ref: string }) => $ref.split('/').at(-1) as string;

const SECOND_FACTOR = {
  type: 'object',
  description: 'not signed in yet: the second factor is asked for',
  required: ['code', 'data', 'msg'],
  properties: {
    code: { type: 'integer', const: -2 },
    data: {
      type: 'object',
      required: ['types', 'reason'],
      properties: {
        types: {
          type: 'array',
          items: { type: 'string', enum: ['totp', 'recovery'] },
          description: 'what can be sent',
        },
        challenge_id: { type: 'string', description: 'what to send it with, where there is no password to send again' },
        reason: { type: 'string', const: 'second_factor_needed' },
      },
    },
    msg: { type: 'string' },
  },
};

/** The envelopes of successes, named for generated clients. */
export class Envelopes {
  readonly schemas: Record<string, Json> = {};

  /** The schema of an answer whose `data` is this; left out: null. */
  of(data: unknown, mayAskForSecondFactor: boolean): Json {
    const success = this.named(this.nameFor(data), {
      type: 'object',
      required: ['code', 'data', 'msg'],
      properties: { code: { type: 'integer', const: 0 }, data: data ?? { type: 'null' }, msg: { type: 'string' } },
    });
    if (!mayAskForSecondFactor) return success;
    return { oneOf: [success, this.named('SecondFactorEnvelope', SECOND_FACTOR)] };
  }

  private nameFor(data: unknown): string {
    if (data === undefined) return 'EmptyEnvelope';
    if (isRef(data)) return `${nameOf(data)}Envelope`;
    const { items, allOf } = data as Json;
    if (Array.isArray(allOf) && allOf.every(isRef)) return `${allOf.map(nameOf).join('')}Envelope`;
    if (isRef(items)) return `${nameOf(items)}ListEnvelope`;
    throw new Error(`an answer needs a class: ${JSON.stringify(data)}`);
  }

  private named(name: string, schema: Json): { $ref: string } {
    this.schemas[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

/** Names of texts that are times or days. */
const FORMATS: [RegExp, string][] = [
  [/_(at|time|until)$/, 'date-time'],
  [/^day$|_date$/, 'date'],
];

function named(name: string, schema: unknown): unknown {
  const { type } = (schema ?? {}) as Json;
  const format = [type].flat().includes('string') && FORMATS.find(([pattern]) => pattern.test(name))?.[1];
  return format ? { ...(schema as Json), format } : schema;
}

/** Joins the lines of a comment: only an empty line, or a list, begins a new paragraph. */
const unwrapped = (text: string): string => text.replace(/(?<!\n)\n(?!\n|- )/g, ' ');

/** Corrects what the generator gets wrong for 3.1, or cannot know, in a whole document. */
export function modern(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(modern);
  if (node === null || typeof node !== 'object') return node;
  const out = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, modern(value)])) as Json;
  for (const key of ['description', 'summary']) if (typeof out[key] === 'string') out[key] = unwrapped(out[key]);
  // the API has no fractions
  if (out.type === 'number') out.type = 'integer';
  if (Array.isArray(out.type)) out.type = out.type.map((t) => (t === 'number' ? 'integer' : t));
  // its own marker on items of nested arrays, where `required` is a list of names
  if (typeof out.required === 'boolean' && !('in' in out) && !('content' in out)) delete out.required;
  if (out.type === 'object' && out.properties) {
    out.properties = Object.fromEntries(Object.entries(out.properties).map(([key, value]) => [key, named(key, value)]));
  }
  if (typeof out.in === 'string') out.schema = named(String(out.name), out.schema);
  return out;
}
