import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db, marks } from '../database/db.js';
import { Jobs } from '../jobs/jobs.js';
import { SettingsService } from '../settings/settings.service.js';

const HOUR_MS = 3_600_000;
/** sets of one statement: each may have thousands of changes */
const PIECE = 50;

/** Removes lists of changes that have ended, as old as the audit entries that the settings say not to keep. */
@Injectable()
export class ChangeRetention implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly db: Db,
    private readonly settings: SettingsService,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('changes.retention', HOUR_MS, () => this.prune());
  }

  async prune(): Promise<void> {
    const time = await this.settings.keptSince();
    if (!time) return;
    for (;;) {
      const old = await this.db.rows<{ id: number }>(
        `SELECT id FROM change_sets WHERE state = 'done' AND finished_at < ? ORDER BY id LIMIT ${PIECE}`,
        [time],
      );
      // their changes go with them
      const ids = old.map(({ id }) => id);
      if (ids.length) await this.db.run(`DELETE FROM change_sets WHERE id IN (${marks(ids.length)})`, ids);
      if (ids.length < PIECE) return;
    }
  }
}
