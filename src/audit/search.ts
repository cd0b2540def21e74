import { errors } from '../platform/common/errors.js';
import { contains } from '../platform/common/paging.dto.js';
import { dayStart } from '../platform/common/time-zone.js';
import { parseTime } from '../platform/common/validation.js';
import type { SqlValue } from '../platform/database/db.js';
import type { AuditFilter } from './audit.dto.js';

const SEARCH = ['LOWER(username)', 'LOWER(target)'];

export interface Condition {
  sql: string;
  values: readonly SqlValue[];
}

/** The conditions that entries have to meet, all of them. */
export interface Search {
  /** on when they were written: every index continues with that column */
  times: Condition[];
  /** each is served by an index */
  indexed: Indexed[];
  /** found only by examining entries one by one */
  others: Condition[];
}

/** A condition that an index serves, with the name of the index. */
export interface Indexed extends Condition {
  index: string;
}

/** The entries that one index finds, in the order of time; without `by` the index of the time itself. */
export interface Found {
  times: Condition[];
  by: Indexed | undefined;
}

const equal = (column: string, value: SqlValue): Condition => ({ sql: `${column} = ?`, values: [value] });

/** the index that begins with a column and continues with the time */
const INDICES: Record<string, string> = {
  request_id: 'audit_logs_request_time_ix',
  change_set_id: 'audit_logs_changes_time_ix',
  token_id: 'audit_logs_token_time_ix',
  domain: 'audit_logs_domain_time_ix',
  username: 'audit_logs_user_time_ix',
  action: 'audit_logs_action_time_ix',
};
const indexed = (column: string, value: SqlValue): Indexed => ({
  ...equal(column, value),
  index: INDICES[column] as string,
});

/** A text that matches exactly, or with `*`. */
const glob = (column: string, text: string): Condition =>
  text.includes('*')
    ? { sql: `${column} LIKE ? ESCAPE '!'`, values: [text.replace(/[!%_]/g, '!$&').replaceAll('*', '%')] }
    : equal(column, text);

/** All conditions as they stand behind `WHERE`, with their values. */
export const allOf = (conditions: readonly Condition[]): [string, SqlValue[]] => [
  conditions.map(({ sql }) => sql).join(' AND ') || '1 = 1',
  conditions.flatMap(({ values }) => values),
];

/** A moment as text that sorts; years beyond four digits are clamped. */
const textOf = (time: number): string => {
  const text = new Date(time).toISOString();
  return text.startsWith('+') ? '9999-12-31T23:59:59.999Z' : text.startsWith('-') ? '0000-01-01T00:00:00.000Z' : text;
};

/** @param zone where days begin @throws AppError 400001 */
export function searchOf(query: AuditFilter & { until?: string }, zone: string): Search {
  const moment = (name: 'start_date' | 'end_date', later: number): SqlValue[] => {
    const text = query[name];
    if (text === undefined) return [];
    if (!parseTime(text)) throw errors.field(name, 'is not a day of the calendar');
    return [textOf(dayStart(text, zone, later) - later)];
  };
  const { domain, action, user: username, token_id, request_id, change_set_id, result, keyword } = query;
  // the narrowest first, as a rule
  const exact = { request_id, change_set_id, token_id };
  const named = { domain: domain?.toLowerCase(), username, action };
  const search: Search = { times: [], indexed: [], others: [] };
  const until = query.until === undefined ? [] : [parseTime(query.until)];
  for (const value of moment('start_date', 0)) search.times.push({ sql: 'created_at >= ?', values: [value] });
  for (const value of [...moment('end_date', 1), ...until])
    search.times.push({ sql: 'created_at <= ?', values: [value] });
  for (const [column, value] of Object.entries(exact))
    if (value !== undefined) search.indexed.push(indexed(column, value));
  for (const [column, text] of Object.entries(named)) {
    if (text === undefined) continue;
    if (column === 'username' || !text.includes('*')) search.indexed.push(indexed(column, text));
    else search.others.push(glob(column, text));
  }
  if (result !== undefined) search.others.push(equal('result', result));
  if (keyword) {
    const sql = `(${SEARCH.map((column) => `${column} LIKE ? ESCAPE '!'`).join(' OR ')})`;
    search.others.push({ sql, values: SEARCH.map(() => contains(keyword)) });
  }
  return search;
}

/** The same condition in a form that no index serves: its index might hold most of the log. */
export const looked = ({ sql, values }: Condition): Condition => ({
  sql: `CASE WHEN ${sql} THEN 1 ELSE 0 END = 1`,
  values,
});

/** Written after a moment. */
export const after = (time: string): Condition => ({ sql: 'created_at > ?', values: [time] });

/** What entries have to meet to be counted by an audit rule. */
export function matchedBy({
  action,
  domain,
  actor,
}: Readonly<Record<'action' | 'domain' | 'actor', string | null>>): Condition[] {
  const conditions: Condition[] = [];
  if (action !== null) conditions.push(glob('action', action));
  if (domain !== null) conditions.push(glob('domain', domain.toLowerCase()));
  if (actor === 'system') conditions.push({ sql: `actor_type = 'system'`, values: [] });
  else if (actor !== null) conditions.push(glob('LOWER(username)', actor.toLowerCase()));
  return conditions;
}

/** Whether any condition narrows it. */
export const isNarrowed = ({ times, by }: Found): boolean => by !== undefined || times.length > 0;
