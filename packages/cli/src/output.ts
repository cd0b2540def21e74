/** Whether a stream is read by somebody who sees colours. */
const hasColours = (stream: NodeJS.WriteStream): boolean =>
  Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

const CODES = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 } as const;
export type Colour = keyof typeof CODES;

/** A text in a colour, where standard output shows colours. */
export const painted = (colour: Colour, text: string): string =>
  hasColours(process.stdout) ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/** A text of others without what a terminal would obey, and in one line. */
export const harmless = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is meant
  text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (one) => {
    const code = one.codePointAt(0) as number;
    return `\\u{${code.toString(16)}}`;
  });

/** A text of several lines without what a terminal would obey. */
export const harmlessLines = (text: string): string => text.split('\n').map(harmless).join('\n');

/** Writes data. */
export const print = (text: string): void => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);

/** Writes words. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** Lines of cells under a line of titles; the last column is as wide as it needs. */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => harmless(String(cell ?? ''))));
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((row) => (row[i] as string).length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number)))
      .join('  ')
      .trimEnd();
  return [painted('bold', line(titles)), ...cells.map(line)].join('\n');
}
