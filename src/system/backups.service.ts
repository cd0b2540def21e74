import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../access/access.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { AuditLinker } from '../audit/linker.service.js';
import { now } from '../platform/common/clock.js';
import { downloads } from '../platform/common/downloads.js';
import { AppError, errors } from '../platform/common/errors.js';
import { randomHex } from '../platform/common/hash.js';
import { Logger } from '../platform/common/logger.js';
import { VERSION } from '../platform/common/version.js';
import { CODES } from '../platform/common/words/codes.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { AppDataSource } from '../platform/database/app-data-source.js';
import { Leases } from '../platform/database/leases.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { dump } from '../platform/dump/dump.js';
import { Events } from '../platform/events/events.js';
import type { BackupFile, BackupMade } from './backups.dto.js';

const LOCK = 'system.backup';
/** ms that the schedule waits for a backup that is being written: a skipped one would be missing silently */
const PATIENCE_MS = 600_000;
/** `auto`: made by the schedule, and removed by it */
export const BACKUP_NAME = /^zoneward-(auto-)?(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}\.ndjson\.gz$/;
const PART = '.part';

/** Why a file could not be written, for causes that the operator can fix. */
const DISK: Record<string, string> = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'the file would be too large',
  EROFS: 'the file system is read-only',
  EACCES: 'the directory may not be written',
  EPERM: 'the directory may not be written',
  ENOTDIR: 'a file is where the directory should be',
  EEXIST: 'a file is where the directory should be',
  EIO: 'the disk does not work',
};

/** Dumps of the whole database, as files in `backups/` of the data directory. */
@Injectable()
export class BackupsService {
  private readonly folder: string;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly source: AppDataSource,
    private readonly leases: Leases,
    private readonly sealed: SealedValues,
    private readonly audit: AuditService,
    private readonly linker: AuditLinker,
    private readonly events: Events,
    private readonly logger: Logger,
  ) {
    this.folder = join(config.dataDir, 'backups');
  }

  /**
   * Writes the database as it is at one moment, without blocking other writers.
   * @throws AppError 409001 while another one is written (`auto`: for very long), 500001 when the disk does not take it
   */
  async create(actor: Actor, auto = false): Promise<BackupMade> {
    try {
      return await this.leases.hold([LOCK], auto ? PATIENCE_MS : 0, async () => {
        // so that the newest entries are in the chain of the backup
        await this.linker.linkIfPossible();
        const made = await this.write(auto);
        await this.audit.append(actor, { action: 'backup.create', target: targetOf(made.file), after: { ...made } });
        return made;
      });
    } catch (error) {
      if (!auto && error instanceof AppError && error.code === CODES.conflict.code)
        throw errors.conflict('backup_runs');
      const words = DISK[(error as NodeJS.ErrnoException).code ?? ''];
      const text = `The backup failed: ${words ?? (error as Error).message}`;
      this.logger.error({ err: error }, 'the backup failed');
      await this.events.emit('notice', { event: 'backup.failed', text });
      throw words ? errors.failed('backup_failed', { why: words }) : error;
    }
  }

  /** The newest first. */
  async list(): Promise<BackupFile[]> {
    const names = await readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const files: BackupFile[] = [];
    for (const file of names) {
      const found = BACKUP_NAME.exec(file);
      // a file that is deleted meanwhile is left out
      const size = found && (await stat(join(this.folder, file)).catch(() => null))?.size;
      if (!found || size === null || size === undefined) continue;
      const [, auto, year, month, day, hour, minute, second] = found;
      const created_at = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
      files.push({ file, size, created_at, scheduled: auto !== undefined });
    }
    return files.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  }

  /** Opens a backup for reading. @throws AppError 400001, 404001, 429001 while too many are being read */
  async read(file: string, caller: Caller): Promise<{ stream: Readable; size: number }> {
    const handle = await open(this.pathOf(file)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? errors.notFound('backup', { name: file }) : error;
    });
    let leave: (() => void) | undefined;
    try {
      leave = downloads.takeOrRefuse({ user: signedIn(caller).userId });
      const { size } = await handle.stat();
      await this.audit.append(caller, { action: 'backup.download', target: targetOf(file) });
      return { stream: handle.createReadStream().once('close', leave), size };
    } catch (error) {
      leave?.();
      await handle.close();
      throw error;
    }
  }

  /** @throws AppError 400001, 404001 */
  async remove(file: string, actor: Actor): Promise<void> {
    await rm(this.pathOf(file)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? errors.notFound('backup', { name: file }) : error;
    });
    await this.audit.append(actor, { action: 'backup.delete', target: targetOf(file) });
  }

  /** The scheduled job: makes a backup, and removes the oldest ones. */
  async scheduled(): Promise<void> {
    try {
      await this.create('system', true);
    } catch (error) {
      const { message } = error as Error;
      await this.audit.append('system', { action: 'backup.create', result: 'failed', error: message });
      throw error;
    }
    const own = (await this.list()).filter(({ scheduled }) => scheduled);
    for (const { file } of own.slice(this.config.backup.keep)) await this.remove(file, 'system');
  }

  private async write(auto: boolean): Promise<BackupMade> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    // removes what a crash left: the lease excludes other writers
    for (const file of await readdir(this.folder)) if (file.endsWith(PART)) await rm(join(this.folder, file));
    const created_at = `${now().slice(0, 19)}.000Z`;
    const moment = created_at.replace(/[-:]|\.000/g, '');
    const file = `zoneward-${auto ? 'auto-' : ''}${moment}-${randomHex(4)}.ndjson.gz`;
    const path = join(this.folder, file);
    const keys = [...(await this.sealed.count()).keys()];
    const hash = createHash('sha256');
    try {
      // reads little in advance: rows wait for the disk in the database, not in memory
      const lines = Readable.from(dump(this.source, { version: VERSION, created_at, keys }), { highWaterMark: 2 });
      // flush: the file is on the disk before it gets its name
      const target = createWriteStream(path + PART, { flags: 'wx', mode: 0o600, flush: true });
      await pipeline(lines, createGzip(), hashing(hash), target);
      const { size } = await stat(path + PART);
      await rename(path + PART, path);
      await this.syncFolder();
      return { file, size, sha256: hash.digest('hex'), created_at };
    } catch (error) {
      await rm(path + PART, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Makes the name of the file survive a power cut. */
  private async syncFolder(): Promise<void> {
    const handle = await open(this.folder);
    // some file systems do not support it
    await handle.sync().catch(() => undefined);
    await handle.close();
  }

  /** @throws AppError 400001 for anything but the name of a backup, so that no path leads out of the folder */
  private pathOf(file: string): string {
    if (!BACKUP_NAME.test(file)) throw errors.field('file', 'must be the name of a backup, as the list shows it');
    return join(this.folder, file);
  }
}

const targetOf = (file: string) => ({ type: 'backup', id: null, name: file });

const hashing = (hash: Hash) =>
  new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
