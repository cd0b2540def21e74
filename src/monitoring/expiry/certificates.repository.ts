import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Reader, readableSql } from '../../domains/readable-domains.repository.js';
import { now } from '../../platform/common/clock.js';
import type { PageQuery } from '../../platform/common/paging.dto.js';
import { Db, isDuplicate, marks, pointsNowhere } from '../../platform/database/db.js';
import { type Counted, countedRows, listRows, TOTAL } from '../../platform/database/lists.js';
import type { Seen } from './certificate.js';
import type { CertificateView } from './expiry.dto.js';

const DAY_MS = 86_400_000;
/** Names with an address or an alias; wildcards and `_x` have no certificate of their own. */
const HOST = `r.enabled = ? AND r.type IN ('A', 'AAAA', 'CNAME')
  AND r.host NOT LIKE '%*%' AND r.host NOT LIKE '%!_%' ESCAPE '!'`;
/** A domain that its provider lists, which most are: SQLite would begin with the index of `status = 'active'`. */
const THERE = "d.status <> 'missing'";
/** The host of a row of `certificates` as records of its domain `d` name it. */
const hostIn = (table: string) =>
  `CASE WHEN ${table}.host = d.name THEN '@' ELSE SUBSTR(${table}.host, 1, LENGTH(${table}.host) - LENGTH(d.name) - 1) END`;

export interface WatchedDomain {
  id: number;
  owner_id: number | null;
  name: string;
  port: number;
}

/** A host that was looked at. */
export interface KnownHost {
  id: number;
  domain_id: number;
  /** full name */
  host: string;
  checked_at: string | null;
}

/** A certificate that ends soon. */
export interface EndingCertificate {
  id: number;
  host: string;
  domain: string;
  valid_from: string;
  valid_to: string;
  issuer: string | null;
  told_for: string | null;
  told_days: number | null;
}

/** A certificate that should have been renewed by now. */
export interface LateCertificate {
  id: number;
  /** full name */
  host: string;
  domain_id: number;
  domain: string;
  valid_to: string;
}

/** What a look writes: without a certificate, the one that was seen last stays. */
type Result = (Seen | { error: string }) & { checked_at: string };

/** The table of certificates, one row for each watched host. */
@Injectable()
export class CertificatesRepository {
  constructor(private readonly db: Db) {}

  /** @param hosts null: all of the domain */
  async list(
    domainId: number,
    hosts: readonly string[] | null,
    query: PageQuery,
  ): Promise<{ total: number; list: CertificateView[] }> {
    if (hosts && !hosts.length) return { total: 0, list: [] };
    return listRows<CertificateView>(this.db, query, {
      columns: 'id, host, valid_from, valid_to, issuer, error, checked_at',
      from: 'certificates',
      where: `domain_id = ?${hosts ? ` AND host IN (${marks(hosts.length)})` : ''}`,
      values: [domainId, ...(hosts ?? [])],
      sorts: { host: 'host', id: 'id', valid_to: 'valid_to' },
      fallback: 'host',
      id: 'id',
      search: ['host'],
    });
  }

  async hosts(domainId: number): Promise<string[]> {
    const sql = 'SELECT host FROM certificates WHERE domain_id = ?';
    return (await this.db.rows<{ host: string }>(sql, [domainId])).map(({ host }) => host);
  }

  /** Certificates of watched public domains that end before a moment, by their ends. */
  endingBefore(at: string): Promise<EndingCertificate[]> {
    return this.db.rows<EndingCertificate>(
      `SELECT c.id, c.host, d.name AS domain, c.valid_from, c.valid_to, c.issuer, c.told_for, c.told_days
         FROM certificates c JOIN domains d ON d.id = c.domain_id
        WHERE d.watch_certificates = ? AND ${THERE} AND d.apart = '' AND c.valid_from IS NOT NULL AND c.valid_to < ?
        ORDER BY c.valid_to, c.id`,
      [true, at],
    );
  }

  /**
   * Certificates of watched public domains that somebody may read and that should have been renewed by now: they end
   * within a week, or of those that last less than some three weeks within two days.
   */
  late(reader: Reader, limit: number, offset = 0): Promise<Counted<LateCertificate>> {
    const [readable, values] = readableSql(reader, 'c.domain_id');
    return countedRows(
      this.db,
      `SELECT c.id, c.host, c.domain_id, d.name AS domain, c.valid_to, ${TOTAL}
         FROM certificates c JOIN domains d ON d.id = c.domain_id
        WHERE c.valid_to < ? AND (c.valid_from < ? OR c.valid_to < ?) AND ${readable}
          AND d.watch_certificates = ? AND ${THERE} AND d.apart = ''
        ORDER BY c.valid_to, c.id LIMIT ? OFFSET ?`,
      [now(7 * DAY_MS), now(-16 * DAY_MS), now(2 * DAY_MS), ...values, true, limit, offset],
    );
  }

  /** Writes that an end was reminded of so many days before it. @returns false when another process did */
  async noteReminder(manager: EntityManager, known: EndingCertificate, days: number): Promise<boolean> {
    const { id, valid_to, told_for, told_days } = known;
    const sql = `UPDATE certificates SET told_for = ?, told_days = ?
      WHERE id = ? AND valid_to = ? AND COALESCE(told_for, '') = ? AND COALESCE(told_days, 0) = ?`;
    const values = [valid_to, days, id, valid_to, told_for ?? '', Number(told_days ?? 0)];
    return (await this.db.run(sql, values, manager)) > 0;
  }

  async removeUnwatched(): Promise<void> {
    const unwatched =
      'DELETE FROM certificates WHERE domain_id IN (SELECT id FROM domains WHERE watch_certificates = ?)';
    await this.db.run(unwatched, [false]);
  }

  /** Watched public domains behind an id, but none that its provider does not list now. */
  watched(after: number, limit: number): Promise<WatchedDomain[]> {
    return this.db.rows(
      `SELECT d.id, d.owner_id, d.name, d.certificate_port AS port FROM domains d
        WHERE d.id > ? AND d.watch_certificates = ? AND ${THERE} AND d.apart = '' ORDER BY d.id LIMIT ?`,
      [after, true, limit],
    );
  }

  /** Removes hosts of these domains that have no records any more. */
  async removeGone(domainIds: readonly number[]): Promise<void> {
    await this.db.run(
      `DELETE FROM certificates WHERE domain_id IN (${marks(domainIds.length)}) AND NOT EXISTS (
          SELECT 1 FROM domains d JOIN dns_records r ON r.domain_id = d.id
           WHERE d.id = certificates.domain_id AND r.host = ${hostIn('certificates')} AND ${HOST})`,
      [...domainIds, true],
    );
  }

  /** The hosts of these domains that have rows, those that were added first before others. */
  known(domainIds: readonly number[]): Promise<KnownHost[]> {
    const sql = `SELECT id, domain_id, host, checked_at FROM certificates WHERE domain_id IN (${marks(domainIds.length)}) ORDER BY id`;
    return this.db.rows(sql, domainIds);
  }

  /** The first hosts of a domain that could have a certificate, as records name them. */
  async hostsOf(domainId: number, limit: number): Promise<string[]> {
    const sql = `SELECT DISTINCT r.host FROM dns_records r WHERE r.domain_id = ? AND ${HOST} ORDER BY r.host LIMIT ?`;
    return (await this.db.rows<{ host: string }>(sql, [domainId, true, limit])).map(({ host }) => host);
  }

  async write(id: number, result: Result): Promise<void> {
    const [columns, values] = columnsOf(result);
    const sql = `UPDATE certificates SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`;
    await this.db.run(sql, [...values, id]);
  }

  /** Adds the row of a host, unless its domain is gone or another process has added it. */
  async add(domainId: number, host: string, result: Result): Promise<void> {
    const [columns, values] = columnsOf(result);
    const sql = `INSERT INTO certificates (domain_id, host, ${columns.join(', ')})
      VALUES (${marks(columns.length + 2)})`;
    await this.db.run(sql, [domainId, host, ...values]).catch((error) => {
      if (!pointsNowhere(error) && !isDuplicate(error)) throw error;
    });
  }
}

const columnsOf = (result: Result): [string[], (string | null)[]] => [Object.keys(result), Object.values(result)];
