import type { Part, TypeView } from './fields.js';

/** Words of a value, those in quotes without them; null: a quote is open. */
function wordsOf(value: string): string[] | null {
  const words: string[] = [];
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))/gy;
  let end = 0;
  for (let found = pattern.exec(value); found; found = pattern.exec(value)) {
    words.push(found[1] === undefined ? (found[2] as string) : found[1].replace(/\\(["\\])/g, '$1'));
    end = pattern.lastIndex;
  }
  return value.slice(end).trim() === '' ? words : null;
}

/** Whether a value of the type is put in part by part: what may be left out must be its end. */
export const hasParts = ({ value: { parts } }: TypeView): boolean =>
  parts.every(({ required }, i) => required || i === parts.length - 1);

/** The texts of the parts of a value; null: it is not made of them, and is to be put in as a whole. */
export function splitValue(type: TypeView, value: string): string[] | null {
  const { parts } = type.value;
  if (parts.length === 1) return [value];
  if (!hasParts(type)) return null;
  if (value.trim() === '') return parts.map(() => '');
  const words = wordsOf(value);
  if (!words) return null;
  const last = parts.at(-1) as Part;
  if (last.kind === 'parameters') {
    // the rest as it is written: its words may have quotes within
    const rest = value
      .trim()
      .split(/\s+/)
      .slice(parts.length - 1)
      .join(' ');
    return words.length < parts.length - 1 ? null : [...words.slice(0, parts.length - 1), rest];
  }
  return words.length === parts.length ? words : null;
}

/** The value that parts are. */
export function joinParts({ value: { parts } }: TypeView, texts: readonly string[]): string {
  if (parts.length === 1) return texts[0] ?? '';
  return parts
    .map(({ quoted }, i) => {
      const text = (texts[i] ?? '').trim();
      return quoted ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
    })
    .join(' ')
    .trim();
}

export type Problem = { key: 'needed' | 'whole' | 'range' | 'ipv4' | 'ipv6'; min?: number; max?: number };

const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

/** What is wrong with a part that can be said without the service; undefined: nothing. */
export function problemOf(part: Part, text: string): Problem | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return part.required ? { key: 'needed' } : undefined;
  if (part.kind === 'ipv4' && !IPV4.test(trimmed)) return { key: 'ipv4' };
  if (part.kind === 'ipv6' && !(/^[0-9a-f:.]+$/i.test(trimmed) && trimmed.includes(':'))) return { key: 'ipv6' };
  if (part.kind !== 'integer') return undefined;
  if (!/^\d+$/.test(trimmed)) return { key: 'whole' };
  const [min, max] = [part.min ?? 0, part.max ?? Number.MAX_SAFE_INTEGER];
  return Number(trimmed) < min || Number(trimmed) > max ? { key: 'range', min, max } : undefined;
}
