import { type AccessRule, type Right, Role } from '../../access/access.js';
import { REFERENCE_SCHEMA } from '../../dns/domain-reference.js';
import { RECORD_WRITES } from '../../monitoring/propagation/prefer.interceptor.js';
import { MAX_ID } from '../../platform/common/validation.js';
import type { ErrorKind } from '../../platform/common/words/codes.js';
import { EXAMPLES } from './examples.js';
import type { Failures, Json } from './failures.js';
import { type HEADERS, headers, RATE_HEADERS } from './headers.js';
import type { Envelopes } from './schemas.js';

const ROLE_NAMES: Record<Role, string> = {
  [Role.User]: 'any user',
  [Role.Admin]: 'administrator',
  [Role.Super]: 'super administrator',
};

const DOMAIN_RIGHTS: Record<Right, string> = {
  read: 'read permission on the domain',
  records: 'write permission on the domain, or on the host of the record',
  write: 'write permission on the whole domain',
  own: 'write permission on the whole domain. It must be that of its owner, or of an administrator',
};

const scopeOf = ({ scope }: AccessRule) =>
  scope === null ? ' Any API token may.' : ` API tokens need the scope \`${scope ?? '*'}\`.`;

/** What `@Access`, `@Fails`, `@Audited` and `@Makes` of a handler say. */
export interface Declared {
  rule: AccessRule | undefined;
  /** the failures beyond those that follow from the rest */
  fails: ErrorKind[];
  action: string | undefined;
  /** the statuses whose answer has `Location` */
  locates: readonly string[];
}

interface Parameter {
  in: string;
  name: string;
  description?: string;
  schema?: Json;
}

type Content = Record<string, { schema?: Json; example?: unknown }>;

/** An operation as the generator leaves it. */
export interface Operation extends Json {
  responses: Record<string, { description?: string; content?: Content; headers?: unknown; $ref?: string }>;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  description?: string;
  summary?: string;
}

const PREFER: Parameter = {
  in: 'header',
  name: 'Prefer',
  description:
    '`respond-published; wait=60`: answer when all authoritative name servers show the change, or with 202 after so many ' +
    'seconds, 300 at most. It is made either way',
  schema: { type: 'string' },
};

const IDEMPOTENCY_KEY: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  description: 'carries the request out once, and gives its answer again for 24 hours, as said above',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const both = (one: Json | undefined, other: Json): Json => (one ? { allOf: [one, other] } : other);

/** Completes the description of one operation: texts, required rights, envelopes, headers, failures, an example. */
export function complete(
  method: string,
  operation: Operation,
  { rule, fails, action, locates }: Declared,
  envelopes: Envelopes,
  failures: Failures,
): void {
  if (runsDry(operation.parameters)) tellDry(operation);
  if (action && RECORD_WRITES.has(action)) mayWait(operation);
  if (operation.parameters?.some(({ name }) => name === 'override')) tellApproval(operation);
  const secured = rule !== undefined && !rule.public;
  const takesKey = secured && method !== 'get';
  if (takesKey) operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY];
  const limited = secured || rule?.rate !== undefined;
  describeSuccesses(operation, { limited, locates, proves: fails.includes('secondFactor'), takesKey }, envelopes);
  Object.assign(
    operation.responses,
    failures.of([...fails, ...kindsOf(operation, rule, { secured, limited, takesKey })]),
  );

  describePath(operation.parameters ?? []);
  describeLists(operation.parameters ?? []);
  addExample(operation.requestBody?.content['application/json']);

  operation.security = secured ? [{ bearer: [] }] : [];
  const audit = action ? ` Audited as \`${action}\`.` : '';
  // a handler's comment: its first sentence is the title, the rest belongs to the description
  const comment = operation.summary ?? '';
  const [, title, more] = /^(.+?[.:])\s+(.*)$/s.exec(`${comment} `) ?? ['', comment, ''];
  operation.summary = title?.replace(/[.:]$/, '');
  operation.description = [more?.trim(), `${needsOf(rule)}${audit}`].filter(Boolean).join('\n\n');
}

/** The failures that follow from the access rule, the parameters and the body. */
function kindsOf(
  operation: Operation,
  rule: AccessRule | undefined,
  { secured, limited, takesKey }: { secured: boolean; limited: boolean; takesKey: boolean },
): ErrorKind[] {
  const kinds: ErrorKind[] = ['validation', 'internal'];
  if (!rule?.beforeSetup) kinds.push('notReady');
  if (secured) kinds.push('unauthenticated', 'forbidden');
  if (takesKey) kinds.push('conflict', 'running', 'reused');
  if (limited) kinds.push('tooMany');
  if (operation.parameters?.some((p) => p.in === 'path')) kinds.push('notFound');
  // several domains have the name
  if (rule?.domain) kinds.push('conflict');
  if (operation.requestBody) kinds.push('tooLarge');
  return kinds;
}

const runsDry = (parameters: Operation['parameters']) => !!parameters?.some(({ name }) => name === 'dry_run');

/** In words alone: another type of `data` would have every generated client ask which one it got. */
function tellDry({ responses }: Operation): void {
  const usual = responses['201'] ?? responses['200'];
  if (usual) usual.description ||= 'success; a dry run is answered 200, with a `PlanView` as `data`';
}

/** Where changes need an approval a write waits for it. In words, for the same reason. */
function tellApproval({ responses }: Operation): void {
  const waits = 'it waits for an approval: its plan, a `PlanView`, is `data`, and `Location` is its address';
  const usual = responses['202'];
  if (usual) usual.description = [usual.description, waits].filter(Boolean).join('; or ');
  else responses['202'] = { description: waits };
}

/** Whoever writes records may wait until they are published. */
function mayWait(operation: Operation): void {
  operation.parameters = [...(operation.parameters ?? []), PREFER];
  const usual = (operation.responses['201'] ?? operation.responses['200'])?.content?.['application/json']?.schema;
  operation.responses['202'] ??= {
    description: 'made, but not published everywhere in time: what was asked for, with what the servers say',
    content: { 'application/json': { schema: both(usual, { $ref: '#/components/schemas/PropagationView' }) } },
  };
}

interface Headed {
  limited: boolean;
  locates: Declared['locates'];
  takesKey: boolean;
}

/** The headers of an answer to what succeeds. */
function headersOf(status: string, { parameters }: Operation, { limited, locates, takesKey }: Headed) {
  const names: (keyof typeof HEADERS)[] = ['X-Request-Id'];
  if (locates.includes(status)) names.push('Location');
  if (parameters?.some((p) => p.name === 'page')) names.push('X-Total-Count', 'Link');
  if (takesKey) names.push('Idempotent-Replayed');
  if (runsDry(parameters)) names.push('Warning-Guard');
  if (limited) names.push(...RATE_HEADERS);
  return headers(...names);
}

/** Headers and envelopes of the answers to what succeeds. */
function describeSuccesses(
  operation: Operation,
  { proves, ...headed }: Headed & { proves: boolean },
  envelopes: Envelopes,
): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    response.description ||= status === '201' ? 'created' : 'success';
    response.headers = headersOf(status, operation, headed);
    // files and streams have no envelope
    if (Object.keys(response.content ?? {}).some((type) => type !== 'application/json')) continue;
    const schema = envelopes.of(response.content?.['application/json']?.schema, proves);
    response.content = { 'application/json': { schema } };
  }
}

const DOMAIN: Pick<Parameter, 'description' | 'schema'> = {
  description:
    'the domain: its id, or its name as A-labels or U-labels, any case, final dot allowed (one label alone needs it). ' +
    '409001 with `data.ids` where several that the caller may read have the name; a name of none is answered as an id of none',
  schema: REFERENCE_SCHEMA,
};

/** What is in the path are ids, unless it says something else. */
function describePath(parameters: Parameter[]): void {
  for (const parameter of parameters) {
    if (parameter.in !== 'path') continue;
    if (parameter.name === 'domain_id') Object.assign(parameter, DOMAIN);
    parameter.description ??= 'id, as lists show it';
    if (['integer', 'number'].includes(String(parameter.schema?.type))) {
      parameter.schema = { type: 'integer', minimum: 1, maximum: MAX_ID };
    }
  }
}

/** Lists in a query stand with commas between. */
function describeLists(parameters: Parameter[]): void {
  for (const parameter of parameters)
    if (parameter.in === 'query' && parameter.schema?.type === 'array')
      Object.assign(parameter, { style: 'form', explode: false });
}

function addExample(body: Content[string] | undefined): void {
  const example = EXAMPLES[String(body?.schema?.$ref).split('/').at(-1) as string];
  if (body && example) body.example = example;
}

/** The right that is needed, and what an API token needs besides. */
function needsOf(rule: Declared['rule']): string {
  if (!rule || rule.public) return 'Needs: no credential.';
  const right = rule.domain ? DOMAIN_RIGHTS[rule.domain] : ROLE_NAMES[rule.role ?? Role.User];
  return `Needs: ${right}.${rule.noTokens ? ' API tokens are refused.' : scopeOf(rule)}`;
}
