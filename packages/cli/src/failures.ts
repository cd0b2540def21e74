import { Unreachable, ZonewardError } from '@zoneward/client';
import { EXIT } from './exits.js';
import { harmless, harmlessLines } from './output.js';

/** A failure of the command itself, told to its user as it is. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exit: number = EXIT.other,
  ) {
    super(message);
  }
}

/** The process got SIGINT or SIGTERM. */
export class Interrupted extends Error {}

const REFUSED = [409003, 423001, 423002];

/** The exit code of a failure that the service tells by its six digits. */
export function exitOfCode(code: number, data: Record<string, unknown> | null = {}): number {
  const status = Math.floor(code / 1000);
  if (data?.reason === 'outcome_unknown' || data?.applied === 'unknown' || data?.retryable === true)
    return EXIT.unreachable;
  if (REFUSED.includes(code) || status === 401 || status === 403) return EXIT.refused;
  if ([409, 412, 428].includes(status)) return EXIT.conflict;
  if ([429, 502, 503, 504].includes(status)) return EXIT.unreachable;
  return EXIT.other;
}

interface Outcome {
  ok: boolean;
  error?: { code: number; msg?: string; data?: unknown } | null;
}

/** The changes of a list that were not made. */
export const notMade = (outcomes: unknown): NonNullable<Outcome['error']>[] =>
  ((outcomes ?? []) as Outcome[]).flatMap(({ ok, error }) => (ok || !error ? [] : [error]));

/** The exit code of a list of which some changes were not made. */
export function exitOfAll(errors: readonly { code: number; data?: unknown }[]): number {
  const exits = errors.map(({ code, data }) => exitOfCode(code, data as Record<string, unknown>));
  const worst = [EXIT.unreachable, EXIT.refused, EXIT.conflict].find((exit) => exits.includes(exit));
  return worst ?? EXIT.other;
}

/** Of a list of changes: none of them was made. */
const NONE_MADE = 422002;

/** The exit code of whatever was thrown. */
export function exitOf(error: unknown): number {
  if (error instanceof Failure) return error.exit;
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof Unreachable) return EXIT.unreachable;
  if (!(error instanceof ZonewardError)) return EXIT.other;
  if (error.code === NONE_MADE) return exitOfAll(notMade(error.data.outcomes));
  return exitOfCode(error.code, error.data);
}

interface Guard {
  key: string;
  text: string;
}
interface Difference {
  host: string;
  type: string;
}

/** What a user of the command can do about a failure of the service, one line each. */
function hintsOf(error: ZonewardError): string[] {
  const {
    guards = [],
    differences = [],
    required,
    until,
  } = error.data as Record<string, unknown> & {
    guards?: Guard[];
    differences?: Difference[];
  };
  const hints = error.fields.map(({ path, message, line, column }) => {
    const where = line === undefined ? path : `line ${line}${column === undefined ? '' : `, column ${column}`}`;
    return `${where}: ${message}`;
  });
  for (const { code, msg } of notMade(error.data.outcomes)) hints.push(`${msg ?? 'not made'} (${code})`);
  for (const { key, text } of guards) hints.push(`${key}: ${text}`);
  if (guards.length) hints.push(`if that is meant: --force ${guards.map(({ key }) => key).join()}`);
  for (const { host, type } of differences) hints.push(`changed meanwhile: ${host} ${type}`);
  if (differences.length) hints.push('nothing was done: make a new plan');
  if (typeof required === 'string') hints.push(`the right that is missing: ${required}`);
  if (typeof until === 'string') hints.push(`until ${until}`);
  if (error.retryAfter !== null) hints.push(`it may be tried again in ${Math.ceil(error.retryAfter)} s`);
  if (['session_expired', 'session_ended', 'session_invalid'].includes(error.reason))
    hints.push('sign in: zoneward login');
  if (error.outcomeUnknown) hints.push('nobody knows whether the change was made: look before you ask for it again');
  return hints;
}

/** The message for the user of any error: nothing that a terminal would obey, and what others wrote in one line. */
export function wordsOf(error: unknown): string {
  if (error instanceof Interrupted)
    return 'interrupted: a change that was under way may have been made, see zoneward history';
  if (error instanceof Unreachable && error.outcomeUnknown)
    return `${harmless(error.message)}\n  nobody knows whether the change was made: look before you ask for it again`;
  if (!(error instanceof ZonewardError)) return harmlessLines(error instanceof Error ? error.message : String(error));
  const id = error.requestId ? `, request ${error.requestId}` : '';
  const head = `${error.message} (${error.code}${error.reason && ` ${error.reason}`}${id})`;
  return [head, ...hintsOf(error).map((hint) => `  ${hint}`)].map(harmless).join('\n');
}
