import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS, AUDITED, FAILS, GOES_ON, LOCATION } from '../access/access.js';
import type { Config } from '../platform/config/config.js';
import { FAILURE_SCHEMAS, Failures } from './openapi/failures.js';
import { HEADERS } from './openapi/headers.js';
import { complete, type Declared, type Operation } from './openapi/operation.js';
import { Envelopes, modern } from './openapi/schemas.js';
import { TAGS } from './openapi/tags.js';

const INTRO = `Zoneward manages DNS zones at many providers through one API.

Every answer is \`{code, data, msg}\`: \`code\` 0 on success, else a six-digit number whose first three digits are the HTTP status. Every answer carries
\`X-Request-Id\`. Times are ISO 8601 UTC. Send \`Authorization: Bearer <user JWT or svc_ token>\`.

A path that exists, but not with the method of the request, is 405001 with \`Allow\`; fields and query parameters that are not described are 400001.
So are a conditional header or a body where the route describes none (\`{}\` counts as none), and a body of another type than \`application/json\`.

A POST, PUT, PATCH or DELETE of somebody who is signed in may carry an \`Idempotency-Key\` of 1 to 255 visible ASCII characters, best a random one.
It is carried out once for each user or API token and key: its answer is kept for 24 hours and given again with \`Idempotent-Replayed: true\`.

- The key with another method, path, query or body is 422001; while the first request runs, the others are 409004 with \`Retry-After\`.
- 2xx and 4xx are kept. 429, and a 5xx that changed nothing, are not: the same key may be sent again.
- Credential, rate and the right that the route needs are judged each time, before the key: what is refused there is not kept, and who has lost
  the right is not told the old answer, but for that of having deleted a domain. What the route itself judges, such as the rules of a token for one
  record, was judged when the request was carried out.
- A request whose process died is never carried out a second time: 409001 with \`data.reason\` \`outcome_unknown\` and its id in
  \`data.params.request\`. Look for that in the audit log, and at what it was to change, before you send another key. An answer of more than some
  36 KiB, compressed, is not kept: the next one is 409001 with \`answer_not_kept\`.
- 10 000 answers, or 64 MiB, are kept for one caller at most; more are 429001. They are no part of backups.
- Reads, and routes that need no credential, such as the sign-in, pass the header over.

A page of the service itself need not hold the JWT. It sends \`X-Zoneward-Session: cookie\` with every request: what answers a JWT then puts it
into an HttpOnly cookie, with \`expires_at\` in place of \`token\`, and requests without \`Authorization\` are judged by that cookie. Without the
header the cookie counts for nothing. A page of another origin is 403001 with \`foreign_page\`, and CORS never allows the header. \`POST
/api/auth/refresh\` renews the cookie, \`POST /api/auth/logout\` removes it. With \`X-Zoneward-User\`, the id of the user for whom it was opened, a
page is answered 401001 with \`session_of_another\` once the cookie is of somebody else; that removes no cookie.

A zone's SOA record, and what a signer derives (RRSIG, NSEC …), belong to the provider and are not listed as records.`;

const UNDECLARED: Declared = { rule: undefined, fails: [], action: undefined, locates: [] };

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
    });
  for (const [name, sentence] of Object.entries(TAGS)) builder.addTag(name, sentence);
  const declared = new Map<string, Declared>();
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (controller, method) => {
      const id = `${controller.replace(/Controller$/, '')}_${method}`;
      declared.set(id, declaredBy(app, controller, method));
      return id;
    },
  });
  const envelopes = new Envelopes();
  const failures = new Failures();
  for (const item of Object.values(document.paths))
    for (const [method, operation] of Object.entries(item) as [string, Operation][])
      complete(method, operation, declared.get(String(operation.operationId)) ?? UNDECLARED, envelopes, failures);
  const { components } = document;
  const schemas = { ...components?.schemas, ...envelopes.schemas, ...FAILURE_SCHEMAS };
  Object.assign(components ?? {}, { schemas, responses: failures.responses, headers: HEADERS });
  return modern(document) as OpenAPIObject;
}

function declaredBy(app: INestApplication, controller: string, method: string): Declared {
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      if (typeof metatype !== 'function' || metatype.name !== controller) continue;
      const handler = metatype.prototype[method] as object;
      const read = (key: string) => Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, metatype);
      return {
        rule: read(ACCESS),
        fails: read(FAILS) ?? [],
        action: read(AUDITED),
        locates: [...(read(LOCATION) ? ['201'] : []), ...(read(GOES_ON) ? ['202'] : [])],
      };
    }
  }
  return UNDECLARED;
}
