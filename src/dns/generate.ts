/**
 * `$GENERATE` of BIND: a template of a record, repeated over a range of numbers. `$` is the number, `$$` a dollar sign,
 * and `${offset,width,base}` the number moved, padded and written in a base: `d`, `o`, `x`, `X`, or `n` and `N` for
 * nibbles in reverse order with dots between them. An offset holds until the next one in its template, as in BIND.
 * Escapes are kept.
 */

const MAX_NUMBER = 2147483647;
const PLACEHOLDER = /\\[\s\S]?|\$\$|\$(?:\{([^}]*)\})?/g;

/** A range such as `1-254` or `0-100/2`; null when it is none. */
export function rangeOf(text: string): { start: number; stop: number; step: number; count: number } | null {
  const match = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text);
  if (!match) return null;
  const [start, stop, step] = [match[1], match[2], match[3] ?? '1'].map(Number) as [number, number, number];
  if (Math.max(start, stop, step) > MAX_NUMBER || start > stop || step < 1) return null;
  return { start, stop, step, count: Math.floor((stop - start) / step) + 1 };
}

/** Hexadecimal digits from the last to the first with dots between them, `width` characters or a few more. */
function nibbles(number: number, width: number): string {
  const digits = number.toString(16).padStart(Math.ceil(width / 2), '0');
  const text = [...digits].reverse().join('.');
  return text.length < width ? `${text}.` : text;
}

function written(number: number, width: number, base: string): string {
  if (base.toLowerCase() === 'n') return base === 'n' ? nibbles(number, width) : nibbles(number, width).toUpperCase();
  const digits = number.toString({ d: 10, o: 8, x: 16, X: 16 }[base]).padStart(width, '0');
  return base === 'X' ? digits.toUpperCase() : digits;
}

/** What a template is for a number; null when one of its placeholders is broken, or leads out of the range. */
export function filled(template: string, number: number): string | null {
  let broken = false;
  let moved = number;
  const text = template.replace(PLACEHOLDER, (all, how?: string) => {
    if (all.startsWith('\\')) return all;
    if (all === '$$') return '\\$';
    if (how === undefined) return String(moved);
    const match = /^([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(how);
    moved = number + Number(match?.[1]);
    if (!match || moved < 0 || moved > MAX_NUMBER) broken = true;
    return broken ? '' : written(moved, Number(match?.[2] ?? 0), match?.[3] ?? 'd');
  });
  return broken || /\$\{/.test(template.replace(PLACEHOLDER, '')) ? null : text;
}
