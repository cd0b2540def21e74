/** Whether a stream is read by somebody who sees colours. */
const hasColours = (stream: NodeJS.WriteStream): boolean =>
  Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

const CODES = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 } as const;
export type Colour = keyof typeof CODES;

/** A text in a colour, where standard output shows colours. */
export const painted = (colour: Colour, text: string): string =>
  hasColours(process.stdout) ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/** What a terminal would obey, or shows in another order. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is meant
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const hexOf = (one: string): string => (one.codePointAt(0) as number).toString(16);

/** A text of others without what a terminal would obey, and in one line. */
export const harmless = (text: string): string => text.replace(OBEYED, (one) => `\\u{${hexOf(one)}}`);

/** A file: as it is, but on a terminal without what that would obey. */
export const printFile = (text: string): void =>
  print(process.stdout.isTTY ? harmlessLines(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ')) : text);

/** A text of several lines without what a terminal would obey. */
export const harmlessLines = (text: string): string => text.split('\n').map(harmless).join('\n');

/** Writes data. */
export const print = (text: string): void => write(process.stdout, text.endsWith('\n') ? text : `${text}\n`);

/** Writes words. */
export const say = (text: string): void => write(process.stderr, `${text}\n`);

/** Writes where somebody still reads: a command goes on to its end without. */
const write = (stream: NodeJS.WriteStream, text: string): void => void (stream.writable && stream.write(text));

/** Writes data as JSON; the line ends are its own, and what else a terminal would obey is escaped. */
export const printJson = (value: unknown): void =>
  print(
    JSON.stringify(value, null, 2).replace(OBEYED, (one) => (one === '\n' ? one : `\\u${hexOf(one).padStart(4, '0')}`)),
  );

/** Lines of cells under a line of titles; the last column is as wide as it needs. */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => harmless(String(cell ?? ''))));
  const widths = titles.map((title, i) =>
    cells.reduce((most, row) => Math.max(most, (row[i] as string).length), title.length),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number)))
      .join('  ')
      .trimEnd();
  return [painted('bold', line(titles)), ...cells.map(line)].join('\n');
}
