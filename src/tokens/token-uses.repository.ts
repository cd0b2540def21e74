import { Injectable } from '@nestjs/common';
import { Db } from '../platform/database/db.js';
import type { TokenUse } from './token.entity.js';

/** How often a token was used on a day (UTC) from a network. */
export type Counted = Omit<TokenUse, 'token'>;

/** The statements of the table `token_uses`. */
@Injectable()
export class TokenUsesRepository {
  constructor(private readonly db: Db) {}

  /** At most 1000 entries of a token, the newest day first. */
  of(tokenId: number): Promise<Pick<TokenUse, 'day' | 'network' | 'hits'>[]> {
    return this.db.rows(
      'SELECT day, network, hits FROM token_uses WHERE token_id = ? ORDER BY day DESC, hits DESC, network LIMIT 1000',
      [tokenId],
    );
  }

  /** Adds to an entry. @returns false when there is none yet */
  async add({ token_id, day, network, hits }: Counted): Promise<boolean> {
    const sql = 'UPDATE token_uses SET hits = hits + ? WHERE token_id = ? AND day = ? AND network = ?';
    return (await this.db.run(sql, [hits, token_id, day, network])) > 0;
  }

  /** Makes an entry, unless the token was deleted meanwhile. */
  async insert({ token_id, day, network, hits }: Counted): Promise<void> {
    await this.db.run(
      'INSERT INTO token_uses (token_id, day, network, hits) SELECT id, ?, ?, ? FROM api_tokens WHERE id = ?',
      [day, network, hits, token_id],
    );
  }

  async deleteBefore(day: string): Promise<void> {
    await this.db.run('DELETE FROM token_uses WHERE day < ?', [day]);
  }
}
