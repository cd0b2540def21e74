import { compileGlob } from '../../platform/common/patterns.js';

/** Record sets, by globs of their hosts as in the rules of tokens, and by their types; what is left out: all. */
export interface Names {
  hosts?: string[];
  types?: string[];
}

/** Whether a record, or a set, is one of some. */
export type Scope = (record: { host: string; type: string }) => boolean;

export function scopeOf({ types, hosts }: Names): Scope {
  const ofTypes = types && new Set(types.map((type) => type.toUpperCase()));
  const tests = hosts?.map((glob) => compileGlob(glob, true));
  return ({ host, type }) => (!ofTypes || ofTypes.has(type)) && (!tests || tests.some((test) => test(host)));
}

/** Whether a record is one of any of some. */
export function anyOf(list: readonly Names[]): Scope {
  const scopes = list.map(scopeOf);
  return (record) => scopes.some((scope) => scope(record));
}
