import { RE2JS } from 're2js';

const KEEP = 500;
const compiled = new Map<string, RE2JS>();

/** RE2: takes time in proportion to the text, whatever the pattern. The newest patterns are kept, since compiling costs more than matching. */
function re2(pattern: string): RE2JS {
  let regexp = compiled.get(pattern);
  if (!regexp) {
    regexp = RE2JS.compile(pattern);
    if (compiled.size >= KEEP) compiled.clear();
    compiled.set(pattern, regexp);
  }
  return regexp;
}

/** Whether the pattern (RE2 syntax) fits the whole text. @throws Error when it is none */
export const patternFits = (pattern: string, text: string): boolean => re2(pattern).matches(text);

/** Whether a text is a pattern that RE2 understands. */
export function isPattern(text: unknown): boolean {
  try {
    return typeof text === 'string' && text.length <= 256 && Boolean(re2(text));
  } catch {
    return false;
  }
}

const ONE_LABEL = '[^.]*';
const ANY = '.*';

/** A glob over hosts as the API writes them (`@`, `www`, `*.dev`): `*` stands for anything but a dot, `**` for anything. The apex `@` is only met by `@` and `**`. */
export function globMatches(glob: string, host: string): boolean {
  if (host === '@') return glob === '@' || glob === '**';
  if (!glob.includes('*')) return glob === host;
  const parts = glob.split(/(\*+)/).map((part) => {
    if (part.startsWith('*')) return part.length > 1 ? ANY : ONE_LABEL;
    return part.replace(/[^\w-]/g, (c) => `\\${c}`);
  });
  return patternFits(parts.join(''), host);
}

const LABEL = /^[a-z0-9_*-]{1,63}$/;

/** Whether a text is a glob over hosts, in lower case and A-labels. */
export const isHostGlob = (text: unknown): boolean =>
  text === '@' ||
  (typeof text === 'string' && text.length <= 253 && text.split('.').every((label) => LABEL.test(label)));
