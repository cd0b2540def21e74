import { diffText, recordLine } from '../history/diff-text.js';
import type { PlanView } from './plan.dto.js';

/** A plan as a unified diff, one line a record. */
export const planText = ({ domain, changes, hidden, summary }: PlanView): string =>
  diffText([domain, domain], changes, hidden, summary);

/** Signs that show what follows them in another order. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const named = (sign: string): string => `U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** One line in the order in which it is written, whatever a provider holds. */
const oneLine = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').replace(TURNING, named);

/** Text in which Markdown sees no markup. */
const plain = (text: string): string => oneLine(text).replace(/[\\`*_{}[\]<>|#!~&$]/g, '\\$&');

/**
 * Text as code in the cell of a table: between more backticks than stand in it. Nothing says a pipe behind a backslash
 * in such a cell: that is code in HTML, each of its signs a number.
 */
function code(text: string): string {
  const line = oneLine(text);
  if (line.includes('\\|'))
    return `<code>${line.replace(/[^A-Za-z0-9 ]/gu, (sign) => `&#${sign.codePointAt(0)};`)}</code>`;
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const edge = /^[` ]|[` ]$/.test(line) ? ' ' : '';
  return `${fence}${edge}${line.replaceAll('|', '\\|')}${edge}${fence}`;
}

/** A word of a table: as it is where it can be nothing else. */
const word = (text: string): string => (/^[A-Za-z0-9@-]+$/.test(text) ? text : code(text));

/** A plan for a pull request. */
export function markdown({ domain, changes, guards, warnings, hidden, summary }: PlanView): string {
  const { create, update, delete: gone, unchanged } = summary;
  const rows = changes.map(({ id, op, host, type, before, after }) => {
    const [from, to] = [before, after].map((state) => (state ? code(recordLine(state)) : ''));
    return `| ${id} | ${op} | ${word(host)} | ${word(type)} | ${from} | ${to} |`;
  });
  return [
    `### ${plain(domain)}: ${create} created, ${update} changed, ${gone} deleted, ${unchanged} unchanged`,
    '',
    ...(rows.length ? ['| # | | host | type | before | after |', '|---|---|---|---|---|---|', ...rows, ''] : []),
    ...(hidden ? [`${hidden} more changes are not shown.`, ''] : []),
    ...guards.map(({ key, text }) => `- **${key}**: ${plain(text)}`),
    ...warnings.map((words) => `- ${plain(words)}`),
    '',
  ].join('\n');
}
