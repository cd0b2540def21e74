import { Injectable } from '@nestjs/common';
import { Db, marks } from '../platform/database/db.js';
import { type Counted, countedRows, TOTAL } from '../platform/database/lists.js';
import { type Narrowed, type Reader, readableBy, readableSql, searchedSql } from './readable-domains.repository.js';

/**
 * How the synchronisation of a domain stands, the worst that holds: its provider does not list it any more, the last
 * synchronisation of its account failed, its account is paused, it was never read, or none of these.
 */
export const DOMAIN_STATES = ['missing', 'sync_failed', 'paused', 'never_synced', 'ok'] as const;
export type DomainState = (typeof DOMAIN_STATES)[number];

/** Domains of one kind of provider and one state. */
export interface DomainGroup {
  provider: string;
  state: DomainState;
  domains: number;
  records: number;
}

/** A domain that needs attention. */
export interface NotedDomain {
  id: number;
  name: string;
  apart: string;
  expires_at: string | null;
  synced_at: string | null;
}

/** An account, with how many domains of it somebody may read. */
export interface NotedAccount {
  id: number;
  name: string;
  domains: number | string;
}

const NOTED = 'd.id, d.name, d.apart, d.expires_at, d.synced_at';

/** SQL of `domains`: what is told of many at once, of those that somebody may read. */
@Injectable()
export class DomainSummariesRepository {
  constructor(private readonly db: Db) {}

  /** How many records the readable domains have. */
  async records(reader: Reader, narrowed: Narrowed): Promise<number> {
    const [where, values] = searchedSql(reader, 'd.id', narrowed);
    const row = await this.db.row<{ n: number | string | null }>(
      `SELECT SUM(d.records_count) AS n FROM domains d WHERE ${where}`,
      values,
    );
    return Number(row?.n ?? 0);
  }

  /** The readable domains, and how many records each of them has. */
  sizes(reader: Reader, narrowed: Narrowed): Promise<{ id: number; records_count: number }[]> {
    const [where, values] = searchedSql(reader, 'd.id', narrowed);
    return this.db.rows(`SELECT d.id, d.records_count FROM domains d WHERE ${where} ORDER BY d.id`, values);
  }

  /**
   * An id that the first records of the readable domains, so many of all of them, do not lie behind, and of each domain
   * no more. Null where no domain has as many.
   */
  async bound(reader: Reader, narrowed: Narrowed, many: number, direction: 'ASC' | 'DESC'): Promise<number | null> {
    const [where, values] = searchedSql(reader, 'd.id', narrowed);
    const last = `SELECT r.id FROM dns_records r WHERE r.domain_id = d.id ORDER BY r.id ${direction} LIMIT 1 OFFSET ?`;
    const row = await this.db.row<{ id: number | null }>(
      `SELECT ${direction === 'ASC' ? 'MIN' : 'MAX'}((${last})) AS id FROM domains d
        WHERE d.records_count >= ? AND ${where}`,
      [many - 1, many, ...values],
    );
    return row?.id ?? null;
  }

  /** What these domains are called, and when they were read, by their ids. */
  async named(ids: readonly number[]): Promise<Map<number, Pick<NotedDomain, 'name' | 'apart' | 'synced_at'>>> {
    if (!ids.length) return new Map();
    const sql = `SELECT ${NOTED} FROM domains d WHERE d.id IN (${marks(ids.length)})`;
    return new Map((await this.db.rows<NotedDomain>(sql, ids)).map((row) => [row.id, row]));
  }

  /** How many domains and records there are, by provider and state. */
  async groups(reader: Reader, at: string): Promise<DomainGroup[]> {
    const { mine, where, values } = readableBy(reader);
    const rows = await this.db.rows<Record<keyof DomainGroup, unknown>>(
      `SELECT f.provider, f.state, COUNT(*) AS domains, SUM(f.records_count) AS records FROM (
         SELECT a.provider, d.records_count, CASE WHEN d.status = 'missing' THEN 'missing'
                WHEN a.last_error IS NOT NULL THEN 'sync_failed' WHEN a.paused_until > ? THEN 'paused'
                WHEN d.synced_at IS NULL THEN 'never_synced' ELSE 'ok' END AS state
           FROM ${mine} JOIN domains d ON d.id = mine.id JOIN dns_accounts a ON a.id = d.account_id
          WHERE ${where}) f
        GROUP BY f.provider, f.state ORDER BY f.provider`,
      [at, ...values],
    );
    return rows.map(({ provider, state, domains, records }) => ({
      provider: String(provider),
      state: state as DomainState,
      domains: Number(domains),
      records: Number(records),
    }));
  }

  /** Public domains whose registrations end before a moment, the nearest end first. */
  ending(reader: Reader, before: string, limit: number): Promise<Counted<NotedDomain>> {
    const [readable, values] = readableSql(reader, 'd.id');
    return countedRows(
      this.db,
      `SELECT ${NOTED}, ${TOTAL} FROM domains d
        WHERE d.expires_at < ? AND d.status = 'active' AND d.apart = '' AND ${readable}
        ORDER BY d.expires_at, d.id LIMIT ?`,
      [before, ...values, limit],
    );
  }

  /** Domains that their providers do not list any more. */
  missing(reader: Reader, limit: number): Promise<Counted<NotedDomain>> {
    const [readable, values] = readableSql(reader, 'd.id');
    return countedRows(
      this.db,
      `SELECT ${NOTED}, ${TOTAL} FROM domains d WHERE d.status = 'missing' AND ${readable} ORDER BY d.id LIMIT ?`,
      [...values, limit],
    );
  }

  /**
   * Accounts that have readable domains, and whose last synchronisation failed, or that are paused.
   * @param at now, for those that are paused; null: those that failed
   */
  accounts(reader: Reader, at: string | null, limit: number): Promise<Counted<NotedAccount>> {
    const { mine, where, values } = readableBy(reader);
    return countedRows(
      this.db,
      `SELECT a.id, a.name, COUNT(*) AS domains, ${TOTAL}
         FROM ${mine} JOIN domains d ON d.id = mine.id JOIN dns_accounts a ON a.id = d.account_id
        WHERE ${where} AND ${at === null ? 'a.last_error IS NOT NULL' : 'a.paused_until > ?'}
        GROUP BY a.id, a.name ORDER BY a.id LIMIT ?`,
      [...values, ...(at === null ? [] : [at]), limit],
    );
  }
}
