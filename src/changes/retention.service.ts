import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../platform/database/db.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { SettingsService } from '../settings/settings.service.js';
import { ChangeSetsRepository } from './history/change-sets.repository.js';
import { VersionsRepository } from './history/versions.repository.js';

const HOUR_MS = 3_600_000;
/** sets that go at once: each may have thousands of changes */
const PIECE = 50;

/** Removes lists of changes that have ended, as old as the audit entries that the settings say not to keep. */
@Injectable()
export class ChangeRetention implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly sets: ChangeSetsRepository,
    private readonly versions: VersionsRepository,
    private readonly settings: SettingsService,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('changes.retention', HOUR_MS, () => this.prune());
  }

  async prune(): Promise<void> {
    const time = await this.settings.keptSince();
    if (!time) return;
    for (;;) {
      const ids = await this.sets.endedBefore(time, PIECE);
      if (ids.length)
        await this.db.transaction(async (manager) => {
          await this.versions.cut(ids, manager);
          await this.sets.remove(ids, manager);
        });
      if (ids.length < PIECE) return;
    }
  }
}
