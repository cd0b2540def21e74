import { ACCESS_REASONS } from './access-reasons.js';
import type { ErrorKind } from './codes.js';
import { CONFLICT_REASONS } from './conflict-reasons.js';
import { SERVICE_REASONS, THINGS } from './service-reasons.js';
import type { MessageLanguage, Words } from './words.js';

/**
 * Every reason of an error: `data.reason`, a stable word that clients tell errors apart by, and what it says in both
 * languages. The list is part of the API: add to it, never change a meaning.
 */
export const REASONS = { ...SERVICE_REASONS, ...ACCESS_REASONS, ...CONFLICT_REASONS } satisfies Record<string, Words>;

export type Reason = keyof typeof REASONS;
export type Thing = keyof typeof THINGS;

/** The reasons of one kind of error. */
export type ReasonOf<K extends ErrorKind> = {
  [R in Reason]: (typeof REASONS)[R]['kind'] extends K ? R : never;
}[Reason];

type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** The values that the words of a reason, or the name of a thing, are filled with. */
export type Params = Record<string, string | number>;
type Filled<T extends string> = [Names<T>] extends [never] ? Record<string, never> : Record<Names<T>, string | number>;

/** What a constructor of errors takes behind a reason: its parameters, where it has any. */
export type Given<R extends Reason, Rest extends unknown[]> =
  Filled<(typeof REASONS)[R]['en']> extends Record<string, never>
    ? [params?: Record<string, never>, ...Rest]
    : [params: Filled<(typeof REASONS)[R]['en']>, ...Rest];
export type GivenThing<T extends Thing> =
  Filled<(typeof THINGS)[T]['en']> extends Record<string, never> ? [] : [params: Filled<(typeof THINGS)[T]['en']>];

/** A reason with the values of its words. */
export interface Said {
  reason: ReasonOf<'forbidden'>;
  params?: Params;
}

/** A reason that is kept until it is known whether it ends anything. */
export const said = <R extends ReasonOf<'forbidden'>>(reason: R, ...[params]: Given<R, []>): Said => ({
  reason,
  ...(params && { params }),
});

const fill = (text: string, params: Params): string =>
  text.replace(/\{(\w+)\}/g, (whole, name) => String(params[name] ?? whole));

/** Whether a text is a reason of the catalogue: stored errors may have one of another version, or none. */
export const isReason = (text: unknown): text is Reason => typeof text === 'string' && Object.hasOwn(REASONS, text);

/** What a reason says in a language. */
export function wordsOf(language: MessageLanguage, reason: Reason, params: Params = {}): string {
  const { what } = params;
  const thing = reason === 'not_found' ? (THINGS as Record<string, (typeof THINGS)[Thing]>)[String(what)] : undefined;
  return fill(REASONS[reason][language], thing ? { ...params, what: fill(thing[language], params) } : params);
}
