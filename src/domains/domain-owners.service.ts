import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';

/** Who a domain belongs to. */
@Injectable()
export class DomainOwners {
  constructor(private readonly db: Db) {}

  /** The role of its owner; 0: it has none, or one who is disabled. */
  async roleOf(domainId: number): Promise<number> {
    const sql = `SELECT u.role FROM domains d JOIN users u ON u.id = d.owner_id WHERE d.id = ? AND u.status = 1`;
    return Number((await this.db.row<{ role: number }>(sql, [domainId]))?.role ?? 0);
  }
}
