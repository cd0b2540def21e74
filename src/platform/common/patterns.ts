import { RE2JS } from 're2js';

/** Maximum length of a pattern in characters. */
export const MAX_PATTERN = 256;
/** Maximum number of instructions of a compiled pattern; matching costs this much per character. */
export const MAX_PROGRAM = 500;

/** A compiled pattern. */
export interface Pattern {
  /** Number of instructions. */
  size: number;
  /** Whether it matches the whole text; costs at most instructions × characters. */
  fits(text: string): boolean;
}

/**
 * Compiles a pattern in RE2 syntax. The dot also matches line breaks, otherwise a text with one would bypass a deny
 * rule.
 * @throws Error when the pattern is invalid
 */
export function compilePattern(source: string): Pattern {
  const regexp = RE2JS.compile(source, RE2JS.DOTALL);
  // not `regexp.matches`: it caches DFA states, up to 8 MiB per pattern, and building one costs ten times a step
  return { size: regexp.programSize(), fits: (text) => regexp.matcher(text).matches() };
}

/** Number of Unicode character classes, the most expensive part of compiling. */
export const unicodeClasses = (source: string): number => source.match(/\\p/gi)?.length ?? 0;

/** A repeated group; flags and empty quotes may stand before the count. */
const REPEATED_GROUP = /\)(\(\?[a-z-]*\)|\\[QE])*\{/i;

/**
 * Upper bound of the cost of compiling a pattern, in instructions: repetitions are expanded, Unicode classes built, and
 * case-insensitive ranges looked up character by character.
 */
export function costOf(source: string): number {
  const counts = [...source.matchAll(/\{(\d+),?(\d*)\}/g)].map(([, least, most]) => Number(most || least) || 1);
  // RE2 allows up to 1000 repetitions, also for nested groups
  const times = counts.reduce((product, count) => Math.min(product * count, 1000), 1);
  const sum = counts.reduce((all, count) => all + count, 0);
  const written = REPEATED_GROUP.test(source) ? source.length * times : 2 * sum;
  const ranges = /\(\?[a-z]*i/i.test(source) ? (source.match(/-(\\x\{|[^\0-\x7f])/g)?.length ?? 0) : 0;
  return written + 200 * unicodeClasses(source) + 2000 * ranges;
}

/** Tokens of a glob besides character codes. */
const ONE_LABEL = -1;
const ANY = -2;
const DOT = 46;
const STAR = 42;

/** Tests whether a host (`@`, `www`, `*.dev`) matches. */
export type HostTest = (host: string) => boolean;

/**
 * Compiles a glob over hosts: `*` matches anything but a dot, `**` anything. The apex `@` is matched only by `@` and
 * `**`; the wildcard record by its literal name `\*` and by `**`, and by `*` only with `wildcards`, since it answers
 * for names of any depth. Costs at most characters of the glob × characters of the host.
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

/** Follows all alternatives at once: `here[i]` says whether the tokens so far can match the first i characters. */
function fits(tokens: readonly number[], host: string, wildcards: boolean): boolean {
  const end = host.length;
  const here = new Uint8Array(end + 1);
  here[0] = 1;
  for (const token of tokens) {
    if (token === ANY) here.fill(1, here.indexOf(1));
    else if (token === ONE_LABEL) passLabel(here, host, wildcards);
    else passCharacter(here, host, token);
    if (!here.includes(1)) return false;
  }
  return here[end] === 1;
}

/** `*` matches any number of characters of one label. */
function passLabel(here: Uint8Array, host: string, wildcards: boolean): void {
  for (let i = 0; i < host.length; i++) {
    const code = host.charCodeAt(i);
    if (here[i] && code !== DOT && (code !== STAR || wildcards)) here[i + 1] = 1;
  }
}

function passCharacter(here: Uint8Array, host: string, code: number): void {
  for (let i = host.length; i > 0; i--) here[i] = here[i - 1] && host.charCodeAt(i - 1) === code ? 1 : 0;
  here[0] = 0;
}

/** Whether a glob matches exactly one host; `\*.dev` matches only the wildcard record. */
export const isLiteral = (glob: string): boolean => !glob.replace(/^\\\*/, '').includes('*');

/** The host that a literal glob matches. */
export const literalHost = (glob: string): string => glob.replace(/^\\\*/, '*');

/** Whether a host matches a glob that grants access. */
export const globAdmits = (glob: string, host: string): boolean => compileGlob(glob)(host);

const LABEL = /^[a-z0-9_*-]{1,63}$/;

/** Whether a value is a glob over hosts, in lower case and A-labels. */
export const isHostGlob = (text: unknown): boolean =>
  text === '@' ||
  (typeof text === 'string' &&
    text.length <= 253 &&
    text.split('.').every((label, i) => LABEL.test(label) || (i === 0 && label === '\\*')));
