import { accessSync, constants, mkdirSync } from 'node:fs';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../platform/common/logger.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';

/** The start makes `ZONEFILE_DIR`, or says why it cannot be used: each of the processes that share it needs it. */
@Injectable()
export class ZoneFileDirectory implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    const { root } = this.config.zoneFiles;
    try {
      mkdirSync(root, { recursive: true });
      accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      this.logger.error(
        { path: root, err: (error as Error).message },
        'ZONEFILE_DIR cannot be used: zone files will fail',
      );
    }
  }
}
