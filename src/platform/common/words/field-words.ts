import { FIELD_CODES, type FieldCode, type FieldError } from './codes.js';
import { fill } from './field-text.js';
import { FIELD_WORDS } from './fields/index.js';
import type { MessageLanguage } from './words.js';

/** Sentences of the catalogue with something to fill in, cut at their placeholders; those that say most first. */
interface Pattern {
  names: string[];
  /** what stands before, between and behind the placeholders */
  pieces: string[];
  zh: string;
}
const PLACEHOLDER = /\{(\w+)\}/;
const PATTERNS: readonly Pattern[] = Object.entries(FIELD_WORDS)
  .filter(([en]) => PLACEHOLDER.test(en))
  .map(([en, zh]) => {
    const parts = en.split(PLACEHOLDER);
    return { names: parts.filter((_part, i) => i % 2), pieces: parts.filter((_part, i) => i % 2 === 0), zh };
  })
  .sort((a, b) => b.pieces.join('').length - a.pieces.join('').length);
/** Placeholders that hold a sentence or a part of one: see `Value` of field-text.ts. */
const NESTED = ['rule', 'hint'];
const SENTENCES: ReadonlyMap<string, string> = new Map(Object.entries(FIELD_WORDS));

/** What stands at the placeholders of a message; null when it is another sentence. Takes linear time. */
function valuesIn(message: string, { names, pieces }: Pattern): Record<string, string> | null {
  const [first, ...rest] = pieces as [string, ...string[]];
  const last = rest.pop() as string;
  if (!message.startsWith(first) || !message.endsWith(last)) return null;
  const end = message.length - last.length;
  const values: string[] = [];
  let at = first.length;
  for (const piece of rest) {
    const next = message.indexOf(piece, at);
    if (next < 0 || next + piece.length > end) return null;
    values.push(message.slice(at, next));
    at = next + piece.length;
  }
  if (at > end) return null;
  values.push(message.slice(at, end));
  return Object.fromEntries(names.map((name, i) => [name, values[i] as string]));
}

/** The Chinese of a message of the catalogue; null for any other text. */
export function chineseOf(message: string): string | null {
  const plain = SENTENCES.get(message);
  if (plain !== undefined) return plain;
  for (const pattern of PATTERNS) {
    const values = valuesIn(message, pattern);
    if (!values) continue;
    for (const name of NESTED) if (values[name]) values[name] = chineseOf(values[name]) ?? values[name];
    return fill(pattern.zh, values);
  }
  return null;
}
/** For messages that the catalogue does not have: those that an older version stored. */
const BY_CODE: Record<FieldCode, string> = {
  required: '必须填写',
  format: '格式不正确',
  range: '超出允许的范围',
  length: '长度不符合要求',
  choice: '不是允许的值',
  unknown: '没有这个字段',
  read_only: '不能修改',
  duplicate: '已经存在',
  conflict: '与其他字段或已有内容冲突',
  unsupported: '提供商不支持',
  wrong: '不正确',
};

function generic({ code, params = {} }: Pick<FieldError, 'code' | 'params'>): string | null {
  if (!Object.hasOwn(FIELD_CODES, code)) return null;
  const { min, max, values, id } = params;
  const bounds = [min === undefined ? '' : `最小 ${min}`, max === undefined ? '' : `最大 ${max}`].filter(Boolean);
  const more = Array.isArray(values)
    ? `允许的值：${values.join(', ')}`
    : id === undefined
      ? bounds.join('，')
      : `id ${id}`;
  return more ? `${BY_CODE[code]}（${more}）` : BY_CODE[code];
}

/**
 * The message of a wrong field in a language. It is found by its English text, so that nothing but the field error has
 * to be kept or sent: errors of lists, and those of another process, are translated as well. What the catalogue does
 * not have gets a general sentence of its code.
 */
export const fieldMessageIn = (language: MessageLanguage, error: FieldError): string =>
  language === 'en' ? error.message : (chineseOf(error.message) ?? generic(error) ?? error.message);
