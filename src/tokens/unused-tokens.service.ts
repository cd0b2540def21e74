import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Notices } from '../notifications/notices.service.js';
import { now } from '../platform/common/clock.js';
import { Db } from '../platform/database/db.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { ApiTokensRepository } from './api-tokens.repository.js';

const DAY_MS = 24 * 3_600_000;
const UNUSED_DAYS = 90;

/** Reports API tokens that were not used for long: once, and again after a later use. */
@Injectable()
export class UnusedTokens implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly tokens: ApiTokensRepository,
    private readonly jobs: Jobs,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('tokens.unused', DAY_MS, () => this.tell());
  }

  /** Reports all unused tokens. */
  async tell(): Promise<void> {
    if (!(await this.notices.heard('token.unused'))) return;
    const since = now(-UNUSED_DAYS * DAY_MS);
    for (const { id, user_id, name, last_used_at } of await this.tokens.unused(since, now())) {
      await this.db.transaction(async (manager) => {
        if (!(await this.tokens.markReported(id, since, now(), manager))) return;
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
