/** A field of what was before or after, by its path. */
export interface FieldChange {
  path: string;
  before: string | null;
  after: string | null;
}

const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The leaves of an object, by their paths; lists of plain values are one leaf. */
function leaves(value: unknown, path = ''): [string, string][] {
  const isList = Array.isArray(value);
  if (value === null || typeof value !== 'object' || (isList && value.every((one) => typeof one !== 'object')))
    return [[path, isList ? value.map(words).join(', ') : words(value)]];
  return Object.entries(value).flatMap(([key, part]) => leaves(part, path ? `${path}.${key}` : key));
}

/** What of an entry was before and after, field by field; what changed comes first. */
export function differenceOf(before: unknown, after: unknown): FieldChange[] {
  const [old, next] = [before, after].map((side) => new Map(side ? leaves(side) : []));
  const paths = [...new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])])];
  const all = paths.map((path) => ({ path, before: old?.get(path) ?? null, after: next?.get(path) ?? null }));
  return [...all.filter((one) => one.before !== one.after), ...all.filter((one) => one.before === one.after)];
}
