import type { CredentialField, ProviderDefinition } from './provider.js';

/** One way to sign in at a provider: keys of its credentials. */
export interface Alternative {
  /** what tells it from the others, in the labels of the fields */
  label: string;
  /** all of these have to be filled in */
  required: string[];
  optional: string[];
}

/** The keys that an alternative cannot do without. */
const requiredOf = (fields: readonly CredentialField[]): string[] =>
  fields.filter(({ required }) => required).map(({ key }) => key);

/** `A, B and C` */
const listed = (labels: readonly string[]): string =>
  labels.length > 1 ? `${labels.slice(0, -1).join(', ')} and ${labels.at(-1)}` : labels.join('');

/** The ways to sign in, in the order in which they are judged. */
export function alternativesOf({ credentials }: Pick<ProviderDefinition, 'credentials'>): Alternative[] {
  const all = credentials.map(requiredOf);
  const common = (key: string) => all.length > 1 && all.every((keys) => keys.includes(key));
  const own = credentials.map((fields) =>
    fields.filter(({ required, key }) => required && !common(key)).map(({ label }) => label),
  );
  const others = (at: number) => listed([...new Set(own.filter((_labels, i) => i !== at).flat())]);
  return credentials.map((fields, at) => ({
    label: listed(own[at] as string[]) || (others(at) ? `Without ${others(at)}` : 'No credentials'),
    required: requiredOf(fields),
    optional: fields.filter(({ required }) => !required).map(({ key }) => key),
  }));
}

/**
 * The alternative that values are of: the first that lacks nothing, or one that has all of that and more.
 * @returns -1 where each lacks something
 */
export function alternativeOf(
  definition: Pick<ProviderDefinition, 'credentials'>,
  values: Readonly<Record<string, unknown>>,
): number {
  const required = definition.credentials.map(requiredOf);
  const complete = (keys: readonly string[]) => keys.every((key) => values[key] !== undefined);
  let best = required.findIndex(complete);
  for (let i = best + 1; best >= 0 && i < required.length; i++) {
    const [keys, former] = [required[i] as string[], required[best] as string[]];
    if (complete(keys) && keys.length > former.length && former.every((key) => keys.includes(key))) best = i;
  }
  return best;
}
