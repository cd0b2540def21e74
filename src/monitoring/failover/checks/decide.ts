import { timeMs } from '../../../platform/common/clock.js';

export type Side = 'primary' | 'backup';

/** How a value is checked, complete. */
export interface Check {
  kind: 'tcp' | 'http' | 'https';
  port: number;
  path: string | null;
  expect_status: number | null;
  expect_body: string | null;
  interval_s: number;
  timeout_s: number;
  fall: number;
  rise: number;
  verify_tls: boolean;
}

/** How one check is made: the part that other checkers get. */
export type Probing = Omit<Check, 'interval_s' | 'fall' | 'rise'> & {
  /** only public addresses, whatever OUTBOUND_ALLOW lists: the maker of the rule may not read inner pages */
  public_only?: boolean;
};

/** A rule as it was given, complete and canonical. */
export interface RuleConfig {
  host: string;
  type: string;
  line: string;
  primary: string[];
  backup: string[];
  check: Check;
  auto_switch_back: boolean;
  notify: boolean;
  max_switches_per_hour: number;
  maintenance: { start_time: string; end_time: string }[];
}

/** What is known of a value. */
export interface Health {
  /** null: not known yet */
  up: boolean | null;
  /** results in a row that contradict `up` */
  against: number;
  last_check_at: string | null;
  last_error: string | null;
  latency_ms: number | null;
}

export const UNKNOWN: Health = { up: null, against: 0, last_check_at: null, last_error: null, latency_ms: null };

/** The result of a check; `up` is null where it is unknown. */
export interface Verdict {
  up: boolean | null;
  error: string | null;
  /** null unless it is up */
  latency_ms: number | null;
}

/**
 * Counts a result. An unknown value is up with the first good result; a value is down after `fall` bad results in a
 * row, and up again after `rise` good ones. An unknown result does not count, and does not interrupt a row.
 */
export function counted(health: Health, verdict: Verdict, { fall, rise }: Check, at: string): Health {
  const { up, error, latency_ms } = verdict;
  const next = { ...health, last_check_at: at, last_error: error, latency_ms };
  if (up === null) return next;
  if (up === health.up) return { ...next, against: 0 };
  const against = health.against + 1;
  const enough = up ? health.up === null || against >= rise : against >= fall;
  return enough ? { ...next, up, against: 0 } : { ...next, against };
}

/** Types of which a name has one record at most: the first value of a list that works is served. */
export const SINGLE: ReadonlySet<string> = new Set(['CNAME', 'ALIAS']);

/** What a record set is to hold. */
export interface Target {
  active: Side;
  values: string[];
}

type State = Pick<RuleConfig, 'primary' | 'backup' | 'type'> & {
  active: Side;
  served: readonly string[] | null;
  checks: Readonly<Record<string, Health>>;
};

/** The values of one side that work; a value whose health is unknown counts where it is served. */
export function working({ primary, backup, type, active, served, checks }: State, side: Side): string[] {
  const list = side === 'primary' ? primary : backup;
  const now = served ?? (active === 'primary' ? primary : backup);
  const some = list.filter((value) => checks[value]?.up ?? now.includes(value));
  if (!SINGLE.has(type)) return some;
  // a served value that works is not replaced by another one of its side
  const first = some.find((value) => now.includes(value)) ?? some[0];
  return first === undefined ? [] : [first];
}

/**
 * What the rule would serve: the primary values that work, or where none does the backup values that work. Null where
 * no value works: what is served stays.
 */
export function targetOf(rule: State & Pick<RuleConfig, 'auto_switch_back'>): Target | null {
  const stays = rule.active === 'backup' && !rule.auto_switch_back;
  const primary = stays ? [] : working(rule, 'primary');
  if (primary.length) return { active: 'primary', values: primary };
  const backup = working(rule, 'backup');
  return backup.length ? { active: 'backup', values: backup } : null;
}

export const sameValues = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value) => b.includes(value));

/** The side that has all these values; null: neither, or there are no values. */
export function sideOf(
  values: readonly string[],
  { primary, backup }: Pick<RuleConfig, 'primary' | 'backup'>,
): Side | null {
  if (!values.length) return null;
  if (values.every((value) => primary.includes(value))) return 'primary';
  return values.every((value) => backup.includes(value)) ? 'backup' : null;
}

/**
 * Whether a record set is as the rule left it: it holds what the rule saw or wrote last, or, where a switch was cut
 * off, a mixture of that and of what the switch was about to write. A rule that has seen nothing yet expects all values
 * of one side.
 */
export function isAsLeft(
  values: readonly string[],
  {
    primary,
    backup,
    served,
    intended,
  }: Pick<RuleConfig, 'primary' | 'backup'> & Record<'served' | 'intended', readonly string[] | null>,
): boolean {
  if (!values.length) return false;
  const known = served ? [served] : [primary, backup];
  if (known.some((list) => sameValues(values, list))) return true;
  return intended !== null && values.every((value) => intended.includes(value) || known.flat().includes(value));
}

const HOUR_MS = 3_600_000;

/** The times of the last hour. */
export const lastHour = (recent: readonly string[]): string[] =>
  recent.filter((at) => Date.parse(at) > timeMs() - HOUR_MS);

/**
 * Whether no served value is down, so that a switch only brings back what works again. Such a switch can wait; one away
 * from a value that is down cannot.
 */
export const isReturn = (served: readonly string[], checks: Readonly<Record<string, Health>>): boolean =>
  !served.some((value) => checks[value]?.up === false);

/** Until when a rule brings nothing back automatically, since it switched too often; null: it may. */
export function limitedUntil(recent: readonly string[], most: number): string | null {
  const switches = lastHour(recent);
  const first = switches.length < most ? undefined : switches.at(-most);
  return first === undefined ? null : new Date(Date.parse(first) + HOUR_MS).toISOString();
}

/** Whether this moment is in a maintenance window. */
export const inMaintenance = ({ maintenance }: Pick<RuleConfig, 'maintenance'>, now: string): boolean =>
  maintenance.some(({ start_time, end_time }) => start_time <= now && now < end_time);
