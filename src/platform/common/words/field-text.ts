import { FIELD_WORDS } from './fields/index.js';

/** A sentence of the catalogue; its English text, with `{name}` for what is filled in, is its key. */
export type FieldKey = keyof typeof FIELD_WORDS;

/** The placeholders of a text: `'from {min} to {max}'` has `min` and `max`. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${string} ${string}` ? never : Name) | Names<Rest>
  : never;
type PlainKey = { [K in FieldKey]: [Names<K>] extends [never] ? K : never }[FieldKey];

declare const filled: unique symbol;
/** A sentence of the catalogue whose placeholders are filled. */
type Filled = string & { readonly [filled]: true };

/** The English message of a wrong field. Only sentences of the catalogue are messages: others do not compile. */
export type FieldText = PlainKey | Filled;

/** Placeholders that take a sentence or a part of one, which is translated, too. */
type Value<Name> = Name extends 'rule' | 'hint' ? FieldText | '' : string | number;

/** Fills the placeholders of a sentence; `say('must not be below {min}', { min: 3 })`. */
export const say = <K extends Exclude<FieldKey, PlainKey>>(
  key: K,
  values: { [Name in Names<K>]: Value<Name> },
): FieldText => fill(key, values) as Filled;

/** The text with its placeholders filled in. */
export const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) => String(values[name]));

/** The same as the message of a decorator of class-validator, which fills in the name of the field. */
export const ruleText = <T extends FieldText>(text: T): string => `$property ${text}`;
