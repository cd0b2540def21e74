import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { networkOf } from '../platform/common/cidr.js';
import { after, type Cancel, now } from '../platform/common/clock.js';
import { Logger } from '../platform/common/logger.js';
import { isDuplicate } from '../platform/database/db.js';
import { Jobs } from '../platform/jobs/jobs.js';
import type { TokenUseView } from './token.dto.js';
import { type Counted, TokenUsesRepository } from './token-uses.repository.js';

const FLUSH_MS = 10_000;
const KEEP_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * Counts uses in memory and adds them to the database every few seconds: a write per request would cost more than the
 * request.
 */
@Injectable()
export class TokenUses implements OnModuleInit, OnApplicationShutdown {
  private counts = new Map<string, Counted>();
  private cancelFlush: Cancel | undefined;

  constructor(
    private readonly uses: TokenUsesRepository,
    private readonly jobs: Jobs,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('token-uses.prune', DAY_MS, async () => {
      await this.uses.deleteBefore(now(-KEEP_DAYS * DAY_MS).slice(0, 10));
    });
  }

  count(tokenId: number, ip: string): void {
    const day = now().slice(0, 10);
    const network = networkOf(ip);
    const key = `${tokenId}|${day}|${network}`;
    const known = this.counts.get(key);
    if (known) known.hits += 1;
    else this.counts.set(key, { token_id: tokenId, day, network, hits: 1 });
    this.cancelFlush ??= after(FLUSH_MS, () => void this.flush(), { idle: true });
  }

  /** The newest day first. */
  async of(tokenId: number): Promise<TokenUseView[]> {
    await this.flush();
    return (await this.uses.of(tokenId)).map(({ day, network, hits }) => ({ day, network, count: Number(hits) }));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private async flush(): Promise<void> {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    const taken = [...this.counts.values()];
    this.counts = new Map();
    try {
      for (const use of taken) await this.add(use);
    } catch (error) {
      this.logger.warn({ err: error }, 'uses of API tokens could not be counted');
    }
  }

  private async add(use: Counted): Promise<void> {
    if (await this.uses.add(use)) return;
    try {
      await this.uses.insert(use);
    } catch (error) {
      // another process made the entry just now
      if (!isDuplicate(error)) throw error;
      await this.uses.add(use);
    }
  }
}
