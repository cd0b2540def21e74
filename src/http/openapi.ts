import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS, type AccessRule, AUDITED, type Right, Role } from '../common/access.js';
import { CODES } from '../common/errors.js';
import type { Config } from '../config/config.js';

type Json = Record<string, unknown>;

const ROLE_NAMES: Record<Role, string> = {
  [Role.User]: 'any user',
  [Role.Admin]: 'administrator',
  [Role.Super]: 'super administrator',
};

const DOMAIN_RIGHTS: Record<Right, string> = {
  read: 'read permission on the domain',
  records: 'write permission on the domain, or on the host of the record',
  write: 'write permission on the whole domain',
};

const scopeOf = ({ scope }: AccessRule) =>
  scope === null ? ' Any API token may.' : ` API tokens need the scope \`${scope ?? '*'}\`.`;

const INTRO = `Zoneward manages DNS zones at many providers through one API.

Every answer is \`{code, data, msg}\`: \`code\` 0 on success, else a six-digit number whose first three digits are the HTTP status. Every answer carries
\`X-Request-Id\`. Times are ISO 8601 UTC. Send \`Authorization: Bearer <user JWT or svc_ token>\`.

A zone's SOA record, and what a signer derives (RRSIG, NSEC …), belong to the provider and are not listed as records.`;

/** What `@Access` and `@Audited` of a handler say. */
interface RouteAccess {
  rule: AccessRule | undefined;
  action: string | undefined;
}

const errorSchema = {
  type: 'object',
  required: ['code', 'msg'],
  properties: {
    code: {
      type: 'integer',
      description: Object.values(CODES)
        .map((c) => `${c.code}: ${c.meaning}`)
        .join('; '),
    },
    msg: { type: 'string' },
    data: {
      type: 'object',
      properties: {
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: { path: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
};

/** Routes that check a password or a code: the name may be locked, and guesses are counted. */
const SECRETS = /\/auth\/(login|password|2fa\/disable)$/;

const failure = (kind: keyof typeof CODES) => ({
  description: `${CODES[kind].code}: ${CODES[kind].meaning}`,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

const PAGE_HEADERS = {
  'X-Total-Count': { description: 'how many entries match', schema: { type: 'integer' } },
  Link: { description: 'RFC 8288: first, prev, next and last page', schema: { type: 'string' } },
};

const envelope = (data: unknown) => ({
  type: 'object',
  required: ['code', 'data', 'msg'],
  properties: { code: { type: 'integer', const: 0 }, data: data ?? { type: 'null' }, msg: { type: 'string' } },
});

/** What the generator gets wrong for 3.1, mended everywhere in a document. */
function modern(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(modern);
  if (node === null || typeof node !== 'object') return node;
  const out = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, modern(value)])) as Json;
  // the API has no fractions
  if (out.type === 'number') out.type = 'integer';
  if (Array.isArray(out.type)) out.type = out.type.map((t) => (t === 'number' ? 'integer' : t));
  // its own marker on items of nested arrays, where `required` is a list of names
  if (typeof out.required === 'boolean' && !('in' in out) && !('content' in out)) delete out.required;
  return out;
}

interface Operation extends Json {
  responses: Record<
    string,
    { description?: string; content?: Record<string, { schema?: unknown }>; headers?: unknown }
  >;
  parameters?: { in: string; name: string }[];
  requestBody?: unknown;
  description?: string;
  summary?: string;
}

function complete(operation: Operation, path: string, method: string, { rule, action }: RouteAccess): void {
  const secured = rule && !rule.public;
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    response.description ||= 'success';
    response.content = { 'application/json': { schema: envelope(response.content?.['application/json']?.schema) } };
  }
  const kinds: (keyof typeof CODES)[] = ['validation', 'internal', 'notReady'];
  if (secured) kinds.push('unauthenticated', 'forbidden', 'tooMany');
  if (path.includes('{')) kinds.push('notFound');
  if (operation.requestBody) kinds.push('tooLarge');
  if (method !== 'get' && secured) kinds.push('conflict');
  if (rule?.rate) kinds.push('unauthenticated', 'forbidden', 'tooMany');
  if (SECRETS.test(path)) kinds.push('locked', 'tooMany');
  if (path.includes('oauth') && method !== 'get') kinds.push('notFound', 'conflict');
  if (path.includes('/init/')) kinds.push('forbidden', 'conflict');
  if (/accounts|records|domains$|email-code/.test(path) && method !== 'get') kinds.push('unsupported');
  for (const kind of kinds) operation.responses[String(CODES[kind].status)] ??= failure(kind);
  const provider =
    (/accounts|records|domains$/.test(path) && (method !== 'get' || path.includes('records'))) ||
    (path.includes('/oauth/') && method === 'post') ||
    (path.endsWith('/bind-oauth') && method === 'post');
  if (provider) {
    const both = `${CODES.internal.code}: ${CODES.internal.meaning}; ${CODES.provider.code}: ${CODES.provider.meaning}`;
    operation.responses['500'] = { ...failure('internal'), description: both };
  }
  operation.security = secured ? [{ bearer: [] }] : [];
  const needs = rule?.domain
    ? DOMAIN_RIGHTS[rule.domain]
    : secured
      ? ROLE_NAMES[rule.role ?? Role.User]
      : 'no credential';
  const tokens = secured ? (rule.noTokens ? ' API tokens are refused.' : scopeOf(rule)) : '';
  const audit = action ? ` Audited as \`${action}\`.` : '';
  // a handler's comment: its first sentence is the title, the rest belongs to the description
  const [, title, more] = /^(.+?[.:])\s+(.*)$/s.exec(`${operation.summary ?? ''} `) ?? ['', operation.summary, ''];
  operation.summary = title?.replace(/[.:]$/, '');
  if (operation.parameters?.some((p) => p.name === 'page')) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status.startsWith('2')) response.headers = PAGE_HEADERS;
    }
  }
  operation.description = [more?.trim(), `Needs: ${needs}.${tokens}${audit}`].filter(Boolean).join('\n\n');
}

/** The OpenAPI 3.1 description of all routes: bodies, envelopes, errors and security. */
export function describeApi(app: INestApplication, config: Config, version: string): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Zoneward')
    .setDescription(INTRO)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(config.baseUrl ?? '/')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description: 'user JWT, or API token (`svc_` and 64 hexadecimal characters)',
    })
    .build();
  const access = new Map<string, RouteAccess>();
  const document = SwaggerModule.createDocument(app, builder, {
    operationIdFactory: (controller, method) => {
      const id = `${controller.replace(/Controller$/, '')}_${method}`;
      access.set(id, accessOf(app, controller, method));
      return id;
    },
  });
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item) as [string, Operation][]) {
      complete(
        operation,
        path,
        method,
        access.get(String(operation.operationId)) ?? { rule: undefined, action: undefined },
      );
    }
  }
  const out = modern(document) as OpenAPIObject;
  Object.assign(out.components?.schemas ?? {}, { Error: errorSchema });
  return out;
}

function accessOf(app: INestApplication, controller: string, method: string): RouteAccess {
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      if (typeof metatype !== 'function' || metatype.name !== controller) continue;
      const handler = metatype.prototype[method] as object;
      const read = (key: string) => Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, metatype);
      return { rule: read(ACCESS), action: read(AUDITED) };
    }
  }
  return { rule: undefined, action: undefined };
}
