import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { Db } from '../database/db.js';
import { Jobs } from '../jobs/jobs.js';
import { Notices } from '../notifications/notices.service.js';

const DAY_MS = 24 * 3_600_000;
const UNUSED_DAYS = 90;

/** Tells of API tokens that nobody has used for long: once each, and again when one falls out of use again. */
@Injectable()
export class UnusedTokens implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('tokens.unused', DAY_MS, () => this.tell());
  }

  /** Looks at all tokens. */
  async tell(): Promise<void> {
    if (!(await this.notices.heard('token.unused'))) return;
    const since = now(-UNUSED_DAYS * DAY_MS);
    const quiet = `is_active AND COALESCE(last_used_at, created_at) < ?
      AND (unused_told_at IS NULL OR unused_told_at < last_used_at) AND (end_time IS NULL OR end_time > ?)`;
    const tokens = await this.db.rows<{ id: number; user_id: number; name: string; last_used_at: string | null }>(
      `SELECT id, user_id, name, last_used_at FROM api_tokens WHERE ${quiet} ORDER BY id`,
      [since, now()],
    );
    for (const { id, user_id, name, last_used_at } of tokens) {
      await this.db.transaction(async (manager) => {
        // whoever looks at the same time, or uses it just now, goes first
        const mine = `UPDATE api_tokens SET unused_told_at = ? WHERE id = ? AND ${quiet}`;
        if (!(await this.db.run(mine, [now(), id, since, now()], manager))) return;
        const last = last_used_at ? `since ${last_used_at.slice(0, 10)}` : 'since it was made';
        await this.notices.tell(manager, {
          event: 'token.unused',
          text: `The API token “${name}” was not used ${last}; delete it if nobody needs it`,
          details: { token_id: id, user_id, last_used_at },
        });
      });
    }
  }
}
