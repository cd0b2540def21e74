import { dayBound, parseTime } from '../platform/common/validation.js';
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

/** @param zone where days begin @throws AppError 400001 */
export function searchOf(query: AuditFilter & { until?: string }, zone: string): Search {
  const moment = (name: 'start_date' | 'end_date', side: 'start' | 'end'): string[] => {
    const text = query[name];
    return text === undefined ? [] : [dayBound(name, text, zone, side)];
  };
  const { domain, domain_id, ip, action, user: username, token_id, request_id, change_set_id } = query;
  // the narrowest first, as a rule
  const exact = { request_id, change_set_id, token_id, domain_id, ip };
  const named = { domain: domain?.toLowerCase(), username, action };
  const search: Search = { times: [], indexed: [], others: [] };
  const until = query.until === undefined ? [] : [parseTime(query.until)];
  for (const time of moment('start_date', 'start')) search.times.push(entry.writtenFrom(time));
  for (const time of [...moment('end_date', 'end'), ...until]) search.times.push(entry.writtenUntil(time));
  for (const [column, value] of Object.entries(exact))
    if (value !== undefined) search.indexed.push(entry.of(column as keyof typeof exact, value));
  for (const [name, text] of Object.entries(named)) {
    const column = name as keyof typeof named;
    if (text === undefined) continue;
    if (column === 'username' || !text.includes('*')) search.indexed.push(entry.of(column, text));
    else search.others.push(entry.like(column, text));
  }
  search.others.push(...othersOf(query));
  return search;
}

/** What no index serves, whatever its value. */
function othersOf({ result, target, keyword }: AuditFilter): Condition[] {
  return [
    ...(result === undefined ? [] : [entry.endedAs(result)]),
    ...(target === undefined ? [] : [entry.about(target)]),
    ...(keyword ? [entry.mentioning(keyword)] : []),
  ];
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
