import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { FairPool } from '../common/fair-pool.js';
import { log } from '../common/logger.js';
import type { PageQuery } from '../common/paging.dto.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Db, isDuplicate, marks, pointsNowhere } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { relativeName } from '../dns/names.js';
import { judgeRecord } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { Jobs } from '../jobs/jobs.js';
import { resolveAllAllowed } from '../outbound/guard.js';
import { bySystem } from '../outbound/lookup.js';
import { certificateOf, type Seen } from './certificate.js';
import type { CertificateView } from './expiry.dto.js';

const TICK_MS = 3_600_000;
/** ms after which a host is looked at again; a little less than a day, so that ticks do not push it to the next */
const AGAIN_MS = 23 * 3_600_000;
/** hosts of one domain */
const MOST = 50;
/** ms that one tick begins new looks: what is left is due at the next one, with whatever came meanwhile */
const PIECE_MS = 45 * 60_000;
/** addresses of a host that are tried: the first that answers counts */
const TRIED = 3;

/** hosts of one tick, in turns over owners, of each those that were looked at the longest ago first */
const MOST_AT_ONCE = 2000;
/** after all ids */
const MAX_ID = 2_147_483_647;
/**
 * Names with an address or another name behind them; what a wildcard stands for, and `_x`, show nothing of their own.
 */
const HOST = `r.enabled = ? AND r.type IN ('A', 'AAAA', 'CNAME')
  AND r.host NOT LIKE '%*%' AND r.host NOT LIKE '%!_%' ESCAPE '!'`;
/** The host of a row of `certificates` as records of its domain `d` name it. */
const hostIn = (table: string) =>
  `CASE WHEN ${table}.host = d.name THEN '@' ELSE SUBSTR(${table}.host, 1, LENGTH(${table}.host) - LENGTH(d.name) - 1) END`;

interface Host {
  /** of its row; null: it has none yet */
  id: number | null;
  domain_id: number;
  owner_id: number | null;
  host: string;
  port: number;
}

/** A certificate that ends soon. */
export interface Shown {
  id: number;
  host: string;
  domain: string;
  valid_from: string;
  valid_to: string;
  issuer: string | null;
  told_for: string | null;
  told_days: number | null;
}

/** When certificates of hosts end, of domains that ask for it. */
@Injectable()
export class Certificates implements OnModuleInit {
  private readonly pool = new FairPool('certificate looks');

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly db: Db,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('expiry.certificates', TICK_MS, (signal) => this.tick(signal));
  }

  /** What the hosts of a domain showed; a token with rules sees those whose addresses or aliases it may read. */
  async list(domain: OpenDomain, query: PageQuery): Promise<{ total: number; list: CertificateView[] }> {
    const some = domain.access.rules ? await this.readable(domain) : null;
    if (some && !some.length) return { total: 0, list: [] };
    return listRows<CertificateView>(this.db, query, {
      columns: 'id, host, valid_from, valid_to, issuer, error, checked_at',
      from: 'certificates',
      where: `domain_id = ?${some ? ` AND host IN (${marks(some.length)})` : ''}`,
      values: [domain.id, ...(some ?? [])],
      sorts: { host: 'host', id: 'id', valid_to: 'valid_to' },
      fallback: 'host',
      id: 'id',
      search: ['host'],
    });
  }

  private async readable({ id, name, access }: OpenDomain): Promise<string[]> {
    const rows = await this.db.rows<{ host: string }>('SELECT host FROM certificates WHERE domain_id = ?', [id]);
    const mayRead = (host: string) =>
      ['A', 'AAAA', 'CNAME'].some(
        (type) => judgeRecord(access, id, 'read', { host, type, value: null, ttl: 0 }).allowed,
      );
    return rows.map(({ host }) => host).filter((host) => mayRead(relativeName(host, name) ?? host));
  }

  /** Looks at the hosts whose time has come. */
  async tick(signal: AbortSignal): Promise<void> {
    await this.forget();
    const enough = AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS)]);
    await Promise.all(
      (await this.due()).map((host) =>
        this.pool
          .run({ user: host.owner_id, target: host.domain_id }, () => this.look(host), enough)
          // the others are looked at within this tick, not behind its end
          .catch((err) => {
            if (!enough.aborted) log().warn({ host: host.host, err }, 'a certificate could not be looked at');
          }),
      ),
    );
    signal.throwIfAborted();
  }

  /** Those that end before a moment. */
  ending(before: string): Promise<Shown[]> {
    return this.db.rows<Shown>(
      `SELECT c.id, c.host, d.name AS domain, c.valid_from, c.valid_to, c.issuer, c.told_for, c.told_days
         FROM certificates c JOIN domains d ON d.id = c.domain_id
        WHERE d.watch_certificates = ? AND d.status = 'active' AND c.valid_from IS NOT NULL AND c.valid_to < ?
        ORDER BY c.valid_to, c.id`,
      [true, before],
    );
  }

  /** Notes in the transaction of a reminder that it was told. @returns false when somebody else did */
  async told(manager: EntityManager, { id, valid_to, told_for, told_days }: Shown, days: number): Promise<boolean> {
    const sql = `UPDATE certificates SET told_for = ?, told_days = ?
      WHERE id = ? AND valid_to = ? AND COALESCE(told_for, '') = ? AND COALESCE(told_days, 0) = ?`;
    const values = [valid_to, days, id, valid_to, told_for ?? '', Number(told_days ?? 0)];
    return (await this.db.run(sql, values, manager)) > 0;
  }

  /**
   * Rows of domains that are not watched, and of hosts that are gone. Of a domain that its provider does not list for
   * now all stay, and with them what was reminded of.
   */
  private async forget(): Promise<void> {
    const unwatched =
      'DELETE FROM certificates WHERE domain_id IN (SELECT id FROM domains WHERE watch_certificates = ?)';
    await this.db.run(unwatched, [false]);
    await this.db.run(
      `DELETE FROM certificates
        WHERE domain_id IN (SELECT id FROM domains WHERE status = 'active') AND NOT EXISTS (
          SELECT 1 FROM domains d JOIN dns_records r ON r.domain_id = d.id
           WHERE d.id = certificates.domain_id AND r.host = ${hostIn('certificates')} AND ${HOST})`,
      [true],
    );
  }

  /** Hosts of each watched domain, those that are known before new ones, so far as their time has come. */
  private async due(): Promise<Host[]> {
    const rows = await this.db.rows<Host & { name: string }>(
      `SELECT domain_id, owner_id, name, port, host, id FROM (
         SELECT hosts.*, ROW_NUMBER() OVER (
                  PARTITION BY owner_id ORDER BY COALESCE(checked_at, ''), domain_id, place) AS turn FROM (
         SELECT d.id AS domain_id, d.owner_id, d.name, d.certificate_port AS port, r.host, c.id, c.checked_at,
                ROW_NUMBER() OVER (PARTITION BY d.id ORDER BY COALESCE(c.id, ${MAX_ID}), r.host) AS place
           FROM domains d
           JOIN (SELECT DISTINCT r.domain_id, r.host FROM dns_records r WHERE ${HOST}) r ON r.domain_id = d.id
           LEFT JOIN certificates c ON c.domain_id = d.id AND ${hostIn('c')} = r.host
          WHERE d.watch_certificates = ? AND d.status = 'active') hosts
          WHERE place <= ? AND (checked_at IS NULL OR checked_at <= ?)) due
        ORDER BY turn, COALESCE(checked_at, ''), domain_id LIMIT ?`,
      [true, true, MOST, now(-AGAIN_MS), MOST_AT_ONCE],
    );
    return rows.map(({ domain_id, owner_id, name, port, host, id }) => ({
      id,
      domain_id,
      owner_id,
      host: host === '@' ? name : `${host}.${name}`,
      port: Number(port),
    }));
  }

  private async look(host: Host): Promise<void> {
    const seen = await this.seen(host);
    // of one that shows nothing now, what it showed is kept
    const words = { error: seen.error, checked_at: now() };
    const row = 'valid_to' in seen ? { ...seen, ...words } : words;
    const columns = Object.keys(row) as (keyof typeof row)[];
    const values = Object.values(row) as (string | null)[];
    if (host.id !== null) {
      const sql = `UPDATE certificates SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`;
      await this.db.run(sql, [...values, host.id]);
      return;
    }
    const sql = `INSERT INTO certificates (domain_id, host, ${columns.join(', ')})
      VALUES (${marks(columns.length + 2)})`;
    await this.db.run(sql, [host.domain_id, host.host, ...values]).catch((error) => {
      // the domain was deleted meanwhile, or another process was faster
      if (!pointsNowhere(error) && !isDuplicate(error)) throw error;
    });
  }

  private async seen({ host, port }: Host): Promise<Seen | { error: string }> {
    const { outboundDeny, outboundAllow } = this.config;
    let error = '';
    try {
      const addresses = await resolveAllAllowed(host, outboundDeny, outboundAllow, (name) => bySystem(name, false));
      for (const address of addresses.slice(0, TRIED)) {
        try {
          return await certificateOf(host, address, port);
        } catch (failure) {
          const { code, message } = failure as { code?: string; message: string };
          error = `${address} port ${port}: ${code ?? message}`;
        }
      }
    } catch (failure) {
      error = (failure as Error).message;
    }
    return { error: error.slice(0, 255).toWellFormed() };
  }
}
