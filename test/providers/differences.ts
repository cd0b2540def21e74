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

/** An entry with this id, as it was answered last, however deep it was in an answer. */
export function entryIn({ known }: Course, id: unknown): Body | undefined {
  const within = (part: unknown): Body[] =>
    typeof part !== 'object' || part === null
      ? []
      : [...(Array.isArray(part) ? [] : [part as Body]), ...Object.values(part).flatMap(within)];
  const all = known.flatMap(({ response }) => within(response.body));
  // an answer to a write may be no more than the id
  return all.findLast(
    (one) => [one.id, one.RecordId].some((own) => `${own}` === `${id}`) && Object.keys(one).length > 3,
  );
}

/** @param asks the id of the record that a request reads; undefined: it reads none. @param shown the answer of it */
export const readFirst = (
  asks: (asked: Asked) => unknown,
  shown: (found: Body) => object = (found) => found,
): Difference => ({
  what: 'a record is read before it is replaced',
  reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
  answer: (asked, course) => {
    const id = asks(asked);
    const found = id === undefined ? undefined : entryIn(course, id);
    return found && { body: shown(found) };
  },
});
