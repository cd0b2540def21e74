import { CODES, type ErrorKind, FIELD_CODES } from '../../platform/common/words/codes.js';
import { REASONS } from '../../platform/common/words/reasons.js';
import { headers, RATE_HEADERS } from './headers.js';

export type Json = Record<string, unknown>;

const meanings = (table: Record<string, string>) =>
  Object.entries(table)
    .map(([code, meaning]) => `${code}: ${meaning}`)
    .join('; ');

const fieldErrorSchema = {
  type: 'object',
  required: ['path', 'message', 'code'],
  properties: {
    path: { type: 'string', description: 'such as `value` or `credentials.api_key`; each once' },
    message: { type: 'string', description: 'for people' },
    code: { type: 'string', enum: Object.keys(FIELD_CODES), description: meanings(FIELD_CODES) },
    params: { type: 'object', description: 'what the words are made of', additionalProperties: true },
  },
};

const PROVIDER_KINDS = {
  auth: 'credentials refused',
  not_found: 'zone or record unknown',
  rate_limit: 'still refused after waiting',
  rejected: 'understood, and refused',
  unavailable: 'unreachable, too slow, or its answer makes no sense',
};

/** The reasons of each code, for people who look one up. */
const reasons = Object.values(CODES)
  .map(({ code }) => {
    const some = Object.entries(REASONS).filter(([, { kind }]) => CODES[kind].code === code);
    return `${code}: ${some.map(([reason]) => `\`${reason}\``).join(', ')}`;
  })
  .join('; ');

const data = {
  type: 'object',
  description: 'what a program can go by; which fields there are depends on `code`',
  additionalProperties: true,
  required: ['reason'],
  properties: {
    reason: {
      type: 'string',
      description: `what a program tells errors apart by; its meaning never changes, and more may come. ${reasons}`,
    },
    params: { type: 'object', description: 'the values in `msg`, where there are any', additionalProperties: true },
    errors: { type: 'array', items: { $ref: '#/components/schemas/FieldError' }, description: 'the wrong fields' },
    required: {
      type: 'string',
      description:
        'of 403001: the right that is missing, such as `role:2`, `domain:7:write`, `team:3:manage` or a scope; `login`: API tokens may not; `2fa`; `network`',
    },
    rule: { type: 'integer', minimum: 0, description: 'of 403001: index of the rule of the API token that decided' },
    id: { type: 'integer', description: 'of 409001: what is in the way, where the caller may read it' },
    count: { type: 'integer', description: 'of 409002: how many would go' },
    of: { type: 'integer', description: 'of 409002: how many are known' },
    names: { type: 'array', items: { type: 'string' }, description: 'of 409002: the zones that would go, at most 100' },
    records: {
      type: 'array',
      description: 'of 409002: the records that would go, at most 100, as far as the caller may read them',
      items: {
        type: 'object',
        required: ['id', 'host', 'type'],
        properties: { id: { type: 'integer' }, host: { type: 'string' }, type: { type: 'string' } },
      },
    },
    change_set_id: { type: ['integer', 'null'], description: 'of 422002: as of 200' },
    outcomes: {
      type: 'array',
      items: { $ref: '#/components/schemas/BatchOutcome' },
      description: 'of 422002: as of 200',
    },
    counts: { $ref: '#/components/schemas/BatchCounts' },
    methods: { type: 'array', items: { type: 'string' }, description: 'of 405001: the methods of the path' },
    provider: { type: ['string', 'null'], description: 'of 500002: kind of the provider, such as `powerdns`' },
    kind: { type: 'string', enum: Object.keys(PROVIDER_KINDS), description: `of 500002: ${meanings(PROVIDER_KINDS)}` },
    retryable: { type: 'boolean', description: 'of 500002: whether the same request may succeed later' },
    retry_at: {
      type: 'string',
      format: 'date-time',
      description: 'of 500002: when to try again, where that is known; `Retry-After` says it, too',
    },
    applied: {
      type: 'string',
      enum: ['no', 'unknown'],
      description: 'of 500002: `no`: nothing was changed at the provider; `unknown`: nobody can tell, read it again',
    },
  },
};

const errorSchema = {
  type: 'object',
  required: ['code', 'msg'],
  properties: {
    code: {
      type: 'integer',
      description: Object.values(CODES)
        .filter(({ status }) => status >= 400)
        .map(({ code, meaning }) => `${code}: ${meaning}`)
        .join('; '),
    },
    msg: {
      type: 'string',
      description: 'for people: in the language that `Accept-Language` prefers (`zh`, `en`), else in that of the user',
    },
    data,
  },
};

export const FAILURE_SCHEMAS = { Error: errorSchema, FieldError: fieldErrorSchema };

/** Statuses whose answer says when to retry; 409004 does, and 500002 where it is known. */
const WAITING = [423, 429, 503];
const COMMON = ['X-Request-Id', ...RATE_HEADERS] as const;

/** Named answers of the failures of operations; the same kinds share an answer. */
export class Failures {
  readonly responses: Record<string, Json> = {};

  /** The answers by status. */
  of(kinds: ErrorKind[]): Record<string, Json> {
    const byStatus = new Map<number, ErrorKind[]>();
    for (const kind of (Object.keys(CODES) as ErrorKind[]).filter((k) => kinds.includes(k))) {
      const { status } = CODES[kind];
      // the request for a second factor is a success, with its own envelope
      if (status < 400) continue;
      byStatus.set(status, [...(byStatus.get(status) ?? []), kind]);
    }
    return Object.fromEntries([...byStatus].map(([status, some]) => [String(status), this.named(status, some)]));
  }

  private named(status: number, kinds: ErrorKind[]): Json {
    const name = kinds.map((kind) => kind.replace(/^./, (letter) => letter.toUpperCase())).join('Or');
    this.responses[name] ??= {
      description: kinds.map((kind) => `${CODES[kind].code}: ${CODES[kind].meaning}`).join('; '),
      headers:
        WAITING.includes(status) || kinds.includes('provider') || kinds.includes('running')
          ? headers(...COMMON, 'Retry-After')
          : headers(...COMMON),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}
