/** The regexp of a NAPTR record (RFC 3402 section 3.2), as strictly as BIND reads it. */

const CLASS = '\\[:(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\\]';
const CHARACTER = '[^\\]\\\\[-]';
/** Escape, bracket expression (`]` comes first, `-` first or last), bound, or one character. */
const TOKEN = new RegExp(
  `\\\\[^]|\\[\\^?\\]?-?(?:${CLASS}|${CHARACTER}-${CHARACTER}|${CHARACTER})*-?\\]|\\{\\d{1,3}(?:,\\d{0,3})?\\}|[^]`,
  'g',
);
const MAX_BOUND = 255;

/** Alternatives of repeatable items (`a`), quantifiers (`q`) and anchors (`z`). */
const ALTERNATIVES = '(?:aq?|z)+(?:\\|(?:aq?|z)+)*';
const GROUP = new RegExp(`\\(${ALTERNATIVES}\\)`, 'g');
const WHOLE = new RegExp(`^${ALTERNATIVES}$`);

/** The symbol of a token in `ALTERNATIVES`; `!` where it is not valid. @param groups opened before it */
function symbolOf(token: string, groups: number): string {
  if (/^[()|]$/.test(token)) return token;
  if (/^[$^]$/.test(token)) return 'z';
  if (/^[*+?]$/.test(token)) return 'q';
  if (/^[[{}\\]$/.test(token)) return '!';
  if (token[0] === '{') return isBound(token) ? 'q' : '!';
  if (token[0] === '[') return hasRisingRanges(token) ? 'a' : '!';
  const reference = /^\\(\d)$/.exec(token)?.[1];
  return reference === undefined || (reference !== '0' && Number(reference) <= groups) ? 'a' : '!';
}

/** @param token such as `{2}`, `{2,}` or `{2,3}` */
function isBound(token: string): boolean {
  const [low = 0, high = MAX_BOUND] = (token.match(/\d+/g) ?? []).map(Number);
  return low <= high && high <= MAX_BOUND;
}

/** @param token a bracket expression */
const hasRisingRanges = (token: string): boolean =>
  [
    ...token
      .slice(1, -1)
      .replace(/^\^?\]?-?/, '')
      .replace(/\[:\w+:\]/g, '')
      .matchAll(/([\s\S])-([\s\S])/g),
  ].every(([, from, to]) => (from as string) <= (to as string));

/**
 * Counts the groups of a POSIX extended regular expression. Where implementations disagree, the text is no expression:
 * a quantifier of an anchor or a quantifier, a lone `{` or `}`, an empty alternative, an escape inside of brackets.
 * @returns null when the text is no such expression
 */
function groupsOf(expression: string): number | null {
  let groups = 0;
  let symbols = '';
  for (const [token] of expression.matchAll(TOKEN)) {
    if (token === '(') groups++;
    symbols += symbolOf(token, groups);
  }
  for (let before = ''; before !== symbols; ) {
    before = symbols;
    symbols = symbols.replace(GROUP, 'a');
  }
  return WHOLE.test(symbols) ? groups : null;
}

/** Whether a text is empty, or delimiter, regular expression, delimiter, replacement, delimiter and flags. */
export function isSubstitution(text: string): boolean {
  if (!text) return true;
  const delimiter = text[0] as string;
  if (/[0-9\\i\0]/.test(delimiter) || text.includes('\0')) return false;
  const parts: string[] = [''];
  for (const [one] of text.slice(1).matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (one === delimiter) parts.push('');
    else if (one === '\\') return false;
    else parts[parts.length - 1] += one;
  }
  const [expression = '', replacement = '', flags] = parts;
  if (parts.length !== 3 || !/^i*$/.test(flags as string)) return false;
  const used = [...replacement.matchAll(/\\([\s\S])/g)].map(([, next]) => next as string).filter((c) => /\d/.test(c));
  const groups = groupsOf(expression);
  return groups !== null && used.every((digit) => digit !== '0' && Number(digit) <= groups);
}
