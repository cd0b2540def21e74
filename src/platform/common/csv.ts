/** Text that a spreadsheet takes for a formula, also behind white space; an `@` alone is none. */
const FORMULA = /^\s*[=+\-@＝＋－＠|%]|^[\t\r\n]/;

export const isFormula = (text: string): boolean => text !== '@' && FORMULA.test(text);

/**
 * A cell of RFC 4180. Text that a spreadsheet would evaluate gets an apostrophe in front, and so does what looks like
 * such a text with apostrophes already, so that one can be taken off again.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${(isFormula(text.replace(/^'+/, '')) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
