import { accessSync, constants, mkdirSync } from 'node:fs';
import { sep } from 'node:path';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

/**
 * Where `ZONEFILE_DIR` leads out of the data directory, as it does when processes share it, the start makes it or says
 * why it cannot be used: those who use its accounts are not told paths of this machine.
 */
@Injectable()
export class ZoneFileDirectory implements OnModuleInit {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  onModuleInit(): void {
    const { root } = this.config.zoneFiles;
    if (root.startsWith(this.config.dataDir + sep)) return;
    try {
      mkdirSync(root, { recursive: true });
      accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      log().error({ path: root, err: (error as Error).message }, 'ZONEFILE_DIR cannot be used: zone files will fail');
    }
  }
}
