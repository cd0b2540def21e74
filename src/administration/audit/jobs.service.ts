import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CheckpointFile } from '../../audit/checkpoint-file.service.js';
import { AuditLinker } from '../../audit/linker.service.js';
import { AuditPruner } from '../../audit/pruner.service.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { SettingsService } from '../../settings/settings.service.js';
import { AuditRulesCheck } from './rules.service.js';

const LINK_MS = 1_000;
const RULES_MS = 10_000;
const RETENTION_MS = 3_600_000;

/** The scheduled jobs of the audit log. */
@Injectable()
export class AuditJobs implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly linker: AuditLinker,
    private readonly checkpoints: CheckpointFile,
    private readonly pruner: AuditPruner,
    private readonly rules: AuditRulesCheck,
    private readonly settings: SettingsService,
  ) {}

  onModuleInit(): void {
    // links what a process left that died after its commit, and updates the checkpoint in the data directory
    this.jobs.schedule('audit.link', LINK_MS, async () => {
      await this.linker.link();
      await this.checkpoints.update();
    });
    this.jobs.schedule('audit.rules', RULES_MS, () => this.rules.check());
    this.jobs.schedule('audit.retention', RETENTION_MS, () => this.prune());
  }

  /** Removes what is older than the settings say. */
  async prune(): Promise<void> {
    const time = await this.settings.keptSince();
    if (time) await this.pruner.removeBefore(time);
  }
}
