import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../../jobs/jobs.js';
import { CheckpointFile } from '../checkpoint-file.service.js';
import { AuditLinker } from '../linker.service.js';

const LINK_MS = 1_000;

/** What the audit log does by itself. */
@Injectable()
export class AuditJobs implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly linker: AuditLinker,
    private readonly checkpoints: CheckpointFile,
  ) {}

  onModuleInit(): void {
    // what a process left that died after its commit; the checkpoint in the data directory
    this.jobs.schedule('audit.link', LINK_MS, async () => {
      await this.linker.link();
      await this.checkpoints.update();
    });
  }
}
