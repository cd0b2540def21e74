import { errors } from '../platform/common/errors.js';
import { dayStart } from '../platform/common/time-zone.js';
import { parseTime } from '../platform/common/validation.js';
import type { AuditFilter } from './audit.dto.js';
import { type Condition, entry, type Found, type Indexed } from './audit-logs.repository.js';

/** The conditions that entries have to meet, all of them. */
export interface Search {
  /** on when they were written: every index continues with that column */
  times: Condition[];
  /** each is served by an index */
  indexed: Indexed[];
  /** found only by examining entries one by one */
  others: Condition[];
}

/** A moment as text that sorts; years beyond four digits are clamped. */
const textOf = (time: number): string => {
  const text = new Date(time).toISOString();
  return text.startsWith('+') ? '9999-12-31T23:59:59.999Z' : text.startsWith('-') ? '0000-01-01T00:00:00.000Z' : text;
};

/** @param zone where days begin @throws AppError 400001 */
export function searchOf(query: AuditFilter & { until?: string }, zone: string): Search {
  const moment = (name: 'start_date' | 'end_date', later: number): string[] => {
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
  for (const time of moment('start_date', 0)) search.times.push(entry.writtenFrom(time));
  for (const time of [...moment('end_date', 1), ...until]) search.times.push(entry.writtenUntil(time));
  for (const [column, value] of Object.entries(exact))
    if (value !== undefined) search.indexed.push(entry.of(column as keyof typeof exact, value));
  for (const [name, text] of Object.entries(named)) {
    const column = name as keyof typeof named;
    if (text === undefined) continue;
    if (column === 'username' || !text.includes('*')) search.indexed.push(entry.of(column, text));
    else search.others.push(entry.like(column, text));
  }
  if (result !== undefined) search.others.push(entry.endedAs(result));
  if (keyword) search.others.push(entry.mentioning(keyword));
  return search;
}

/** What entries have to meet to be counted by an audit rule. */
export function matchedBy({
  action,
  domain,
  actor,
}: Readonly<Record<'action' | 'domain' | 'actor', string | null>>): Condition[] {
  const conditions: Condition[] = [];
  if (action !== null) conditions.push(entry.like('action', action));
  if (domain !== null) conditions.push(entry.like('domain', domain.toLowerCase()));
  if (actor === 'system') conditions.push(entry.bySystem());
  else if (actor !== null) conditions.push(entry.byUser(actor));
  return conditions;
}

/** Whether any condition narrows it. */
export const isNarrowed = ({ times, by }: Found): boolean => by !== undefined || times.length > 0;
