import { isDeepStrictEqual } from 'node:util';
import type { Asked, Course, Difference } from '../support/recordings.js';
import type { Answer } from '../support/vendor.js';

/**
 * Accepted differences between recorded traffic and what an adapter sends stand, each with its reason, in
 * `<kind>/differences.ts`. Everything else has to be equal: method, path, query and body of each request, every
 * recorded write, ids, lists.
 */

export type Body = Record<string, unknown>;
export const bodyOf = (asked: Asked): Body => (asked.body ?? {}) as Body;
export const withBody = (asked: Asked, change: (body: Body) => Body): Asked =>
  typeof asked.body === 'object' && asked.body !== null ? { ...asked, body: change(asked.body as Body) } : asked;
export const withoutQuery = (asked: Asked): Asked => (asked.method === 'GET' ? { ...asked, query: {} } : asked);
export const unquoted = (value: unknown) => (typeof value === 'string' ? value.replace(/^"(.*)"$/, '$1') : value);
/** A refusal of what was sent before in the same words. */
export const refuseTwice =
  (path: RegExp, refusal: Answer) =>
  (asked: Asked, { asked: all }: Course) =>
    path.test(asked.path) && asked.method !== 'GET' && all.slice(0, -1).some((one) => isDeepStrictEqual(one, asked))
      ? refusal
      : undefined;

/** Differences that are accepted of all kinds. */
export const EVERYWHERE: readonly Difference[] = [
  {
    what: 'fields of a body that are null are left out',
    reason: 'the recording client sends each of its options, and null for those that it was not given',
    normal: (asked) =>
      withBody(asked, (body) =>
        Array.isArray(body) ? body : Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
      ),
  },
  {
    what: 'a body that is an empty object is none',
    reason: 'the recording client sends one with each GET and DELETE',
    normal: (asked) => (JSON.stringify(asked.body) === '{}' ? { ...asked, body: undefined } : asked),
  },
  {
    what: 'a creation that the steps ask for twice is sent twice',
    reason:
      'the recorded client looks before it writes, and sends nothing the second time; adapters may write, and look when they are refused: unless a kind says otherwise the answer is that of the first time',
    again: ({ scenario }) => {
      const wishes = (scenario.steps ?? []).flatMap(({ op, type, host, value }) =>
        op === 'create' ? [JSON.stringify([type, host, value])] : [],
      );
      return new Set(wishes).size < wishes.length;
    },
  },
];

/** A record with this id, as it was answered last. */
export function recordIn({ known }: Course, id: string | undefined): object | undefined {
  const all = known.flatMap(({ response }) => {
    const body = response.body as { response?: unknown } | unknown[] | null;
    return [Array.isArray(body) ? body : (body?.response ?? body)].flat() as ({ id?: unknown } | null)[];
  });
  return all.findLast((one) => id !== undefined && String(one?.id) === id) ?? undefined;
}
