import type { ErrorKind } from './codes.js';

/** The languages that messages are written in. */
export type MessageLanguage = 'en' | 'zh';

/** What a reason says in both languages; `{name}` stands for a parameter. */
export interface Words<K extends ErrorKind = ErrorKind, E extends string = string> {
  kind: K;
  en: E;
  zh: string;
}

/** One entry of the catalogue. */
export const say = <K extends ErrorKind, E extends string>(kind: K, en: E, zh: string): Words<K, E> => ({
  kind,
  en,
  zh,
});
