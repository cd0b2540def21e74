import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { wallMs, within } from '../platform/common/clock.js';
import { randomHex } from '../platform/common/hash.js';
import { Logger } from '../platform/common/logger.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Events } from '../platform/events/events.js';
import type { AuditCheckpoint } from './audit.dto.js';
import { AuditLogsRepository } from './audit-logs.repository.js';
import { ChainEnds } from './chain-ends.service.js';
import { AuditLinker } from './linker.service.js';

/** ms between two checkpoints in the log of the service */
const TOLD_MS = 600_000;
const STOP_MS = 3_000;

/** The newest checkpoint that this data directory knows: who can write to the database alone cannot move it back. */
export const checkpointFile = (dataDir: string): string => join(dataDir, 'audit-checkpoint.json');

/** @returns null when there is none, or none that can be read */
export async function readCheckpoint(path: string): Promise<AuditCheckpoint | null> {
  try {
    const checkpoint = JSON.parse(await readFile(path, 'utf8')) as AuditCheckpoint;
    return Number.isInteger(checkpoint.seq) && typeof checkpoint.hash === 'string' ? checkpoint : null;
  } catch {
    return null;
  }
}

/** Keeps the newest end of the chain outside of the database, and writes it to the log of the service. */
@Injectable()
export class CheckpointFile implements BeforeApplicationShutdown {
  private readonly path: string;
  /** the temporary file, with a random name: two processes of one data directory may have the same pid */
  private readonly fresh: string;
  private running: Promise<void> = Promise.resolve();
  private told = { seq: 0, at: 0 };
  /** whether the end of the chain is not what it was when the file was written; logged once */
  wrong = false;
  private unwritable = false;

  constructor(
    private readonly logs: AuditLogsRepository,
    private readonly database: DatabaseService,
    private readonly ends: ChainEnds,
    private readonly linker: AuditLinker,
    private readonly events: Events,
    @Inject(CONFIG) { dataDir }: Config,
    private readonly logger: Logger,
  ) {
    this.path = checkpointFile(dataDir);
    this.fresh = `${this.path}.${randomHex(8)}.tmp`;
  }

  read(): Promise<AuditCheckpoint | null> {
    return readCheckpoint(this.path);
  }

  /** Advances the file to the end of the chain, unless the chain does not continue the file's. One call at a time. */
  update(): Promise<void> {
    const run = this.running.then(() => this.moveOn());
    this.running = run.catch(() => undefined);
    return run;
  }

  private async moveOn(): Promise<void> {
    const file = await this.read();
    const ends = await this.ends.read();
    // no entry was linked yet
    if (!file && !ends?.secret) return;
    const checkpoint = ends && this.ends.checkpointOf(ends);
    if (!checkpoint || !(await this.follows(checkpoint, file))) {
      if (!this.wrong)
        this.logger.error({ file: this.path }, 'the audit log is not what it was: see GET /api/audit/verify');
      this.wrong = true;
      return;
    }
    this.wrong = false;
    if (file && file.signature === checkpoint.signature) return;
    await this.write(checkpoint);
    await this.tell(checkpoint);
  }

  /** The next start compares the database with this last checkpoint. */
  async beforeApplicationShutdown(): Promise<void> {
    if (!this.database.open) return;
    const last = this.linker.stop().then(() => this.update());
    await within(
      last.catch((err) => this.logger.warn({ err }, 'the last audit entries are linked at the next start')),
      STOP_MS,
    );
  }

  /** Starts anew with the chain as it is, after a restore. */
  forget(): Promise<void> {
    return rm(this.path, { force: true });
  }

  private async follows(now: AuditCheckpoint, file: AuditCheckpoint | null): Promise<boolean> {
    if (!file) return true;
    if (file.public_key !== now.public_key || file.seq > now.seq) return false;
    if (file.seq < now.start_seq) return true;
    return (await this.logs.hashOf(file.seq)) === file.hash;
  }

  private async write(checkpoint: AuditCheckpoint): Promise<void> {
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await writeFile(this.fresh, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600 });
      await rename(this.fresh, this.path);
      this.unwritable = false;
    } catch (err) {
      // the next process writes to another name
      await rm(this.fresh, { force: true }).catch(() => undefined);
      if (!this.unwritable) this.logger.error({ err }, 'audit checkpoints cannot be kept in the data directory');
      this.unwritable = true;
    }
  }

  private async tell(checkpoint: AuditCheckpoint): Promise<void> {
    if (checkpoint.seq === this.told.seq || wallMs() - this.told.at < TOLD_MS) return;
    this.told = { seq: checkpoint.seq, at: wallMs() };
    this.logger.info({ checkpoint }, 'audit checkpoint');
    const text = `The audit log ends with entry ${checkpoint.seq}, ${checkpoint.hash}`;
    await this.events.emit('notice', { event: 'audit.checkpoint', text, details: { ...checkpoint } });
  }
}
