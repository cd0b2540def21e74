/** Headers of answers, as components. */
export const HEADERS = {
  'X-Request-Id': {
    description:
      'id of the request, as in the log and the audit log; the one that the client sent, where it is 8 to 64 of `A-Za-z0-9_.-`',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description: 'how many entries match; of a search of the audit log, see `total` there',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotent-Replayed': {
    description: '`true`: the answer to an earlier request with this `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
  },
  'Warning-Guard': {
    description: 'guards of mode `warn` that the changes have met, with commas between: docs/safe-change.md',
    schema: { type: 'string' },
    example: 'apex_ns',
  },
  Link: {
    description: 'RFC 8288: first, prev, next and last page',
    schema: { type: 'string' },
    example: '</api/domains?page=2&limit=20>; rel="next"',
  },
  Location: {
    description: 'path of what was created, or of what goes on',
    schema: { type: 'string' },
    example: '/api/teams/3',
  },
  'Retry-After': { description: 'seconds after which to come again', schema: { type: 'integer', minimum: 1 } },
  RateLimit: {
    description:
      'how many requests are left, and for how many seconds (draft-ietf-httpapi-ratelimit-headers); left out where none are counted',
    schema: { type: 'string' },
    example: '"user";r=119;t=42',
  },
  'RateLimit-Policy': {
    description: 'how many requests are allowed in how many seconds',
    schema: { type: 'string' },
    example: '"user";q=120;w=60',
  },
  'X-RateLimit-Limit': {
    description: 'the same for older clients: requests a minute',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': { description: 'how many of them are left', schema: { type: 'integer', minimum: 0 } },
  'X-RateLimit-Reset': { description: 'seconds until they start anew', schema: { type: 'integer', minimum: 0 } },
} as const;

/** The headers of the rate limiter. */
export const RATE_HEADERS = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

/** References to these headers, for an answer. */
export const headers = (...names: (keyof typeof HEADERS)[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
