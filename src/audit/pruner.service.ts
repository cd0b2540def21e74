import { Injectable } from '@nestjs/common';
import { Db } from '../platform/database/db.js';
import { AuditService } from './audit.service.js';
import { AuditLogsRepository } from './audit-logs.repository.js';
import { ChainEnds } from './chain-ends.service.js';
import { AuditVerifier } from './verifier.service.js';

/** entries that one transaction removes */
const PIECE = 2000;

/** Removes the oldest entries. The signed beginning of the chain moves behind them, so that it stays verifiable. */
@Injectable()
export class AuditPruner {
  constructor(
    private readonly db: Db,
    private readonly logs: AuditLogsRepository,
    private readonly ends: ChainEnds,
    private readonly verifier: AuditVerifier,
    private readonly audit: AuditService,
  ) {}

  /**
   * Removes all entries before the first one that is not older than this moment.
   * @returns how many were removed
   * @throws Error, and removes nothing more, where an entry was changed: it is the only trace of the change
   */
  async removeBefore(time: string): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await this.piece(time);
      removed += count;
      if (count < PIECE) break;
    }
    return removed;
  }

  private piece(time: string): Promise<number> {
    return this.db.transaction(async (manager) => {
      const { secret, signature, ...ends } = await this.ends.lock(manager);
      const start = ends.start_seq ?? 1;
      const kept = await this.logs.firstSeqSince(time, manager);
      const last = Math.min(kept ? kept - 1 : ends.seq, start + PIECE - 1);
      if (last < start || !secret) return 0;
      const keys = this.ends.keysOf(secret);
      if (!keys.signs(ends, signature) || !(await this.verifier.isWhole({ ...ends, secret, signature }, last, manager)))
        throw new Error('the oldest audit entries are not what they were: none is removed, see GET /api/audit/verify');
      const hash = await this.logs.hashOf(last, manager);
      await this.logs.removeUpTo(last, manager);
      const left = { ...ends, start_seq: last + 1, start_hash: hash ?? '' };
      await this.ends.store(manager, left, secret, keys.sign(left));
      const entries = last - start + 1;
      const target = { type: 'audit', id: null, name: null };
      await this.audit.write(manager, 'system', { action: 'audit.prune', target, after: { entries, before: time } });
      return entries;
    });
  }
}
