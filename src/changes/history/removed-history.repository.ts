import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';

/** rows of one statement */
const PIECE = 250;

/** The last one of a piece, and what removes those up to it. */
const CHANGES = [
  `SELECT MAX(position) AS last FROM (
    SELECT position FROM record_changes WHERE change_set_id = ? ORDER BY position LIMIT ${PIECE}) piece`,
  'DELETE FROM record_changes WHERE change_set_id = ? AND position <= ?',
] as const;
const VERSIONS = [
  `SELECT MAX(version) AS last FROM (
    SELECT version FROM versions WHERE domain_id = ? ORDER BY version LIMIT ${PIECE}) piece`,
  'DELETE FROM versions WHERE domain_id = ? AND version <= ?',
] as const;

/** Removes the history of domains that are gone for good, in pieces; done again it goes on where it was. */
@Injectable()
export class RemovedHistory {
  constructor(private readonly db: Db) {}

  /** Lists that have not ended stay: they keep a domain of the name from being added while a write may still come. */
  async remove(domainId: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const sql = "SELECT id FROM change_sets WHERE domain_id = ? AND state = 'done' ORDER BY id LIMIT 50";
      const sets = await this.db.rows<{ id: number }>(sql, [domainId]);
      for (const { id } of sets) {
        await this.inPieces(CHANGES, id, signal);
        await this.db.run('DELETE FROM change_sets WHERE id = ?', [id]);
      }
      if (!sets.length) break;
    }
    await this.inPieces(VERSIONS, domainId, signal);
  }

  private async inPieces([piece, work]: typeof CHANGES | typeof VERSIONS, id: number, signal: AbortSignal) {
    for (;;) {
      signal.throwIfAborted();
      const last = (await this.db.row<{ last: number | null }>(piece, [id]))?.last ?? null;
      if (last === null) return;
      await this.db.run(work, [id, last]);
    }
  }
}
