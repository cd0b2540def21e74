import { contains } from '../common/paging.dto.js';
import type { SqlValue } from '../database/db.js';
import { toAscii } from '../dns/names.js';
import type { DomainQuery } from './domain.dto.js';

/** What a query narrows a list to. */
export interface Filter {
  /** conditions, each with `AND` before it */
  sql: string;
  values: SqlValue[];
  /** they are about columns of `domains d`, which the table of readable domains lacks */
  ofRow: boolean;
}

/** The conditions of a query, on the table of domains that has this name there. */
export function filterOf(query: DomainQuery, domains: 'mine' | 'd'): Filter {
  const { name, account_id, provider, status, keyword } = query;
  const byName: [string, SqlValue | undefined][] = [
    ['mine.name = ?', name && toAscii(name).replace(/\.$/, '')],
    // the A-label form of a whole label: parts of one have another
    ["mine.name LIKE ? ESCAPE '!'", keyword ? contains(toAscii(keyword) || keyword) : undefined],
  ];
  const byRow: [string, SqlValue | undefined][] = [
    [`${domains}.account_id = ?`, account_id],
    [`${domains}.account_id IN (SELECT p.id FROM dns_accounts p WHERE p.provider = ?)`, provider],
    [`${domains}.status = ?`, status],
  ];
  const isGiven = ([, value]: [string, SqlValue | undefined]) => value !== undefined;
  const given = [...byName, ...byRow].filter(isGiven);
  return {
    sql: given.map(([sql]) => ` AND ${sql}`).join(''),
    values: given.map(([, value]) => value as SqlValue),
    ofRow: domains === 'd' && byRow.some(isGiven),
  };
}
