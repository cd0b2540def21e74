import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';

/** A record whose end has come. */
export interface EndedRecord {
  id: number;
  domain_id: number;
  host: string;
  expires_at: string;
  end_maker_id: number | null;
  end_maker_token_id: number | null;
}

@Injectable()
export class RecordEndsRepository {
  constructor(private readonly db: Db) {}

  /** Records that have ended by a time and are not held, in the order of their ends, behind one of them. */
  ended(by: string, limit: number, after?: EndedRecord): Promise<EndedRecord[]> {
    const { expires_at = '', id = 0 } = after ?? {};
    return this.db.rows(
      // the first comparison is implied by the third: an index is entered there, and not read from its start
      `SELECT id, domain_id, host, expires_at, end_maker_id, end_maker_token_id FROM dns_records
        WHERE expires_at >= ? AND expires_at <= ? AND (expires_at > ? OR id > ?) AND end_hold_reason IS NULL
        ORDER BY expires_at, id LIMIT ?`,
      [expires_at, by, expires_at, id, limit],
    );
  }

  /** Holds records of a domain that have ended by a time. @returns how many of them still had, and were not held */
  hold(domainId: number, ids: readonly number[], by: string, reason: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE dns_records SET end_hold_reason = ?
        WHERE domain_id = ? AND id IN (${marks(ids.length)}) AND expires_at <= ? AND end_hold_reason IS NULL`,
      [reason, domainId, ...ids, by],
      manager,
    );
  }
}
