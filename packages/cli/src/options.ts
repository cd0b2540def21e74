import { type Command, InvalidArgumentError } from 'commander';

/** A command that ends with the exit code that its work answers. */
export const ending =
  <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
  async (...args: A): Promise<void> => {
    process.exitCode = await work(...args);
  };

export function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('it is a whole number');
  return Number(text);
}
/** @throws InvalidArgumentError where nothing is named: an empty variable does not mean all */
export function list(text: string): string[] {
  const named = text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  if (!named.length) throw new InvalidArgumentError('it names nothing');
  return named;
}

/** Options of whatever changes records. */
export interface Writing {
  publish?: number | true;
  force?: string[];
  override?: string;
  comment?: string;
  dryRun?: boolean;
}

/** Seconds that publication is waited for. */
export const PUBLISHED = 60;
export const secondsOf = ({ publish }: Writing): number | undefined => (publish === true ? PUBLISHED : publish);

/** Adds the options of whatever changes records. */
export const writing = (command: Command): Command =>
  command
    .option(
      '--publish [seconds]',
      `end when all name servers show it, after so many seconds at most (${PUBLISHED})`,
      wholeNumber,
    )
    .option('--force <guards>', 'guards that are meant, with commas between', list)
    .option('--override <reason>', 'in spite of a freeze, for super administrators; the log has the reason');
