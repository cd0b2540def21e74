import { Injectable } from '@nestjs/common';
import { Db, isDuplicate } from '../../../platform/database/db.js';

/** Signed questions that this node has accepted, on whichever replica. */
@Injectable()
export class CheckerQuestionsRepository {
  constructor(private readonly db: Db) {}

  /** @returns false when it is there already */
  async add(signature: string, until: string): Promise<boolean> {
    try {
      const sql = 'INSERT INTO checker_questions (signature, until_at) VALUES (?, ?)';
      await this.db.run(sql, [signature, until]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async removeEndedBefore(at: string): Promise<void> {
    await this.db.run('DELETE FROM checker_questions WHERE until_at < ?', [at]);
  }
}
