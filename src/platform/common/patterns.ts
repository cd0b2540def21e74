import { RE2JS } from 're2js';

/** Characters of a pattern. */
export const MAX_PATTERN = 256;
/** Instructions that a pattern may compile to: what it costs for each character of a text. */
export const MAX_PROGRAM = 500;

/** A compiled pattern. */
export interface Pattern {
  /** instructions */
  size: number;
  /** whether it fits the whole text; costs at most instructions × characters */
  fits(text: string): boolean;
}

/**
 * A pattern in RE2 syntax; a dot stands for a line break, too, or texts that hold one would slip past a deny.
 * @throws Error when it is none
 */
export function compilePattern(source: string): Pattern {
  const regexp = RE2JS.compile(source, RE2JS.DOTALL);
  // not `regexp.matches`: that keeps states that it met, up to 8 MiB a pattern, and making one costs ten times a step
  return { size: regexp.programSize(), fits: (text) => regexp.matcher(text).matches() };
}

/** What compiling costs most: classes of Unicode characters. */
export const unicodeClasses = (source: string): number => source.match(/\\p/gi)?.length ?? 0;

/** What follows a group that is repeated: flags, and quotes of nothing, may stand before the count. */
const REPEATED_GROUP = /\)(\(\?[a-z-]*\)|\\[QE])*\{/i;

/**
 * What compiling a pattern costs beside its characters, in instructions, at most: repetitions are written out, classes
 * of Unicode characters put together, and of ranges up to such a character, each one is looked up in its other case.
 */
export function costOf(source: string): number {
  const counts = [...source.matchAll(/\{(\d+),?(\d*)\}/g)].map(([, least, most]) => Number(most || least) || 1);
  // RE2 takes up to 1000 times, in a group of a group, too
  const times = counts.reduce((product, count) => Math.min(product * count, 1000), 1);
  const sum = counts.reduce((all, count) => all + count, 0);
  const written = REPEATED_GROUP.test(source) ? source.length * times : 2 * sum;
  const ranges = /\(\?[a-z]*i/i.test(source) ? (source.match(/-(\\x\{|[^\0-\x7f])/g)?.length ?? 0) : 0;
  return written + 200 * unicodeClasses(source) + 2000 * ranges;
}

/** Tokens of a glob beside character codes. */
const ONE_LABEL = -1;
const ANY = -2;
const DOT = 46;
const STAR = 42;

/** Whether a host (`@`, `www`, `*.dev`) is met. */
export type HostTest = (host: string) => boolean;

/**
 * A glob over hosts as the API writes them: `*` stands for anything but a dot, `**` for anything. The apex `@` is only
 * met by `@` and `**`. The wildcard record is met by `\*`, its literal name, and by `**`; by `*` only with `wildcards`:
 * it answers for names of any depth, which `*` does not cover. Costs at most characters of the glob × characters of the
 * host.
 */
export function compileGlob(glob: string, wildcards = false): HostTest {
  if (glob === '**') return () => true;
  if (isLiteral(glob)) return (host) => host === literalHost(glob);
  const tokens = glob.split(/(^\\\*|\*+)/).flatMap((part) => {
    if (part === '\\*') return [STAR];
    if (part.startsWith('*')) return [part.length > 1 ? ANY : ONE_LABEL];
    return Array.from(part, (c) => c.charCodeAt(0));
  });
  const suffix = /[^*]*$/.exec(glob)?.[0] ?? '';
  const shortest = tokens.filter((token) => token >= 0).length;
  return (host) => host !== '@' && host.length >= shortest && host.endsWith(suffix) && fits(tokens, host, wildcards);
}

/** Walks all ways at once: `here[i]` tells whether the tokens so far can end before character i. */
function fits(tokens: readonly number[], host: string, wildcards: boolean): boolean {
  const end = host.length;
  const here = new Uint8Array(end + 1);
  here[0] = 1;
  for (const token of tokens) {
    if (token === ANY) here.fill(1, here.indexOf(1));
    else if (token === ONE_LABEL) {
      for (let i = 0; i < end; i++) {
        const code = host.charCodeAt(i);
        if (here[i] && code !== DOT && (code !== STAR || wildcards)) here[i + 1] = 1;
      }
    } else {
      for (let i = end; i > 0; i--) here[i] = here[i - 1] && host.charCodeAt(i - 1) === token ? 1 : 0;
      here[0] = 0;
    }
    if (!here.includes(1)) return false;
  }
  return here[end] === 1;
}

/** Whether a glob is the name of one host; `\*.dev` is, of the wildcard record. */
export const isLiteral = (glob: string): boolean => !glob.replace(/^\\\*/, '').includes('*');

/** The host that a literal glob names. */
export const literalHost = (glob: string): string => glob.replace(/^\\\*/, '*');

/** Whether a host lies under a glob that grants something. */
export const globAdmits = (glob: string, host: string): boolean => compileGlob(glob)(host);

const LABEL = /^[a-z0-9_*-]{1,63}$/;

/** Whether a text is a glob over hosts, in lower case and A-labels. */
export const isHostGlob = (text: unknown): boolean =>
  text === '@' ||
  (typeof text === 'string' &&
    text.length <= 253 &&
    text.split('.').every((label, i) => LABEL.test(label) || (i === 0 && label === '\\*')));
