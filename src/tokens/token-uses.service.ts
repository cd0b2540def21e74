import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { networkOf } from '../common/cidr.js';
import { now } from '../common/clock.js';
import { log } from '../common/logger.js';
import { Db, isDuplicate } from '../database/db.js';
import { Jobs } from '../jobs/jobs.js';

const FLUSH_MS = 10_000;
const KEEP_DAYS = 90;
const DAY_MS = 86_400_000;

/** How often a token was used on a day (UTC) from a network. */
export interface TokenUse {
  day: string;
  network: string;
  count: number;
}

/**
 * Counts uses in memory and adds them to the database every few seconds: a write at each request would cost more than
 * the request.
 */
@Injectable()
export class TokenUses implements OnModuleInit, OnApplicationShutdown {
  private counts = new Map<string, { tokenId: number; day: string; network: string; count: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Db,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('token-uses.prune', DAY_MS, async () => {
      await this.db.run('DELETE FROM token_uses WHERE day < ?', [now(-KEEP_DAYS * DAY_MS).slice(0, 10)]);
    });
  }

  count(tokenId: number, ip: string): void {
    const day = now().slice(0, 10);
    const network = networkOf(ip);
    const key = `${tokenId}|${day}|${network}`;
    const known = this.counts.get(key);
    if (known) known.count += 1;
    else this.counts.set(key, { tokenId, day, network, count: 1 });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** The newest day first. */
  async of(tokenId: number): Promise<TokenUse[]> {
    await this.flush();
    const rows = await this.db.rows<{ day: string; network: string; hits: number }>(
      'SELECT day, network, hits FROM token_uses WHERE token_id = ? ORDER BY day DESC, hits DESC, network LIMIT 1000',
      [tokenId],
    );
    return rows.map(({ day, network, hits }) => ({ day, network, count: Number(hits) }));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const taken = [...this.counts.values()];
    this.counts = new Map();
    try {
      for (const use of taken) await this.add(use);
    } catch (error) {
      log().warn({ err: error }, 'uses of API tokens could not be counted');
    }
  }

  private async add({
    tokenId,
    day,
    network,
    count,
  }: {
    tokenId: number;
    day: string;
    network: string;
    count: number;
  }) {
    const more = () =>
      this.db.run('UPDATE token_uses SET hits = hits + ? WHERE token_id = ? AND day = ? AND network = ?', [
        count,
        tokenId,
        day,
        network,
      ]);
    if (await more()) return;
    try {
      // a token that was deleted meanwhile is counted no more
      await this.db.run(
        'INSERT INTO token_uses (token_id, day, network, hits) SELECT id, ?, ?, ? FROM api_tokens WHERE id = ?',
        [day, network, count, tokenId],
      );
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      await more();
    }
  }
}
