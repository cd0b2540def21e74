import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { now, sleep } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { Logger } from '../common/logger.js';
import { DatabaseService } from './database.service.js';
import { Db, isDuplicate } from './db.js';
import type { InstallationRow } from './installation.entity.js';
import { type Place, placeOf } from './place.js';

/** ms in which a process that works on a database is sure to renew or begin a job, and between two looks at that */
const LIFE_MS = 12_000;
const LOOK_MS = 500;
/** addresses that are remembered */
const MAX_PLACES = 20;

const RESUME =
  'No jobs run, no failover, and nothing is written to providers until `npm run admin -- resume`, or ' +
  'POST /api/system/resume by a super administrator';

/** Since when, and why, an installation does nothing by itself. */
export interface Pause {
  since: string;
  reason: string;
}

/**
 * Whether this database is the one that its installation works on, or a copy of it. A copy has the accounts of the
 * original, and would write through them: it does nothing by itself, and changes nothing at a provider, until somebody
 * says that it may.
 */
@Injectable()
export class Installation {
  /** null: nobody has looked yet */
  private known: { pause: Pause | null } | null = null;
  private place: Place | null = null;

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly logger: Logger,
  ) {}

  /** Call it in `onModuleInit` of the service; a command of the administration does not work on the database. */
  serve(): void {
    this.database.beforeOpened.push(() => this.begin());
    this.database.looks.push(() => this.look());
  }

  get paused(): Pause | null {
    return this.known?.pause ?? null;
  }

  /** Why nothing may be done by itself, and nothing written to a provider; null: it may. */
  get halted(): string | null {
    if (this.database.unfit) return this.database.unfit;
    if (!this.known) return 'The database is not open yet';
    const { pause: since } = this.known;
    return since && `Paused since ${since.since}: ${since.reason}. ${RESUME}`;
  }

  /** @throws AppError 503001 while nothing may be written to a provider */
  assertWorks(): void {
    const { halted } = this;
    if (halted) throw errors.notReady('halted', undefined, { words: halted });
  }

  /** Lets a copy work: it is an installation of its own from now on. @returns the pause that ended; null: none did */
  async resume(): Promise<Pause | null> {
    const paused = pauseOf(await this.row());
    const resumed = await this.db.run(
      `UPDATE installation SET paused_at = NULL, pause_reason = NULL, places = '[]', id = ?
       WHERE one = 1 AND paused_at IS NOT NULL`,
      [randomUUID()],
    );
    await this.look();
    return resumed === 1 ? paused : null;
  }

  private async begin(): Promise<void> {
    this.known = null;
    this.place = await placeOf(this.db.source);
    await this.look();
  }

  /** Reads what stands there; the first process of an installation says where it is. */
  private async look(): Promise<void> {
    const row = await this.row();
    if (!row) await this.found();
    else if (!row.paused_at && this.place) await this.judge(row, this.place);
    const found = pauseOf(await this.row());
    if (found && this.place) await this.db.run('UPDATE installation SET seen_at = ?', [now()]);
    const before = this.known;
    this.known = { pause: found };
    if (found && !before?.pause) this.logger.warn({ ...found }, `paused: ${found.reason}. ${RESUME}`);
    if (!found && before?.pause) this.logger.info('resumed: jobs run, and providers are written to');
  }

  private row(): Promise<InstallationRow | undefined> {
    return this.db.row<InstallationRow>('SELECT one, id, places, paused_at, pause_reason FROM installation');
  }

  /** A new installation, or one of before there was this table. */
  private async found(): Promise<void> {
    try {
      await this.db.run('INSERT INTO installation (one, id, places) VALUES (1, ?, ?)', [
        randomUUID(),
        JSON.stringify(this.place ? [this.place] : []),
      ]);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  private async judge({ places: json }: InstallationRow, here: Place): Promise<void> {
    const places = JSON.parse(json) as Place[];
    const itself = places.filter(({ self }) => self && here.self);
    const isOther = itself.length > 0 && !itself.some(({ self }) => self === here.self);
    const isFile = this.db.source.options.type === 'better-sqlite3';
    const known = places.some(({ address }) => address === here.address);
    // a file that says when it was made may stand elsewhere now
    if (!isOther && (known || (isFile && itself.length > 0))) return;
    // another process that works on it proves that this is no copy: it was reached by another address
    if (places.length && (isOther || isFile || !(await this.isAlive()))) return this.pauseAt(places, here);
    await this.db.run('UPDATE installation SET places = ? WHERE one = 1 AND places = ? AND paused_at IS NULL', [
      JSON.stringify([...places, here].slice(-MAX_PLACES)),
      json,
    ]);
  }

  private async pauseAt(places: readonly Place[], here: Place): Promise<void> {
    const where = places.at(-1)?.address;
    const reason =
      where === here.address
        ? `this database, at ${here.address}, is not the one that its installation has worked on, but a copy of it`
        : `this database is found at ${here.address}, and its installation has worked on one at ${where}: it is a copy, or was moved`;
    await this.db.run('UPDATE installation SET paused_at = ?, pause_reason = ? WHERE one = 1 AND paused_at IS NULL', [
      now(),
      reason,
    ]);
  }

  /** Whether somebody renews or begins jobs there. */
  private async isAlive(): Promise<boolean> {
    const read = async () => JSON.stringify(await this.db.rows('SELECT id, next_at, runs FROM jobs ORDER BY id'));
    const before = await read();
    for (let waited = 0; waited < LIFE_MS; waited += LOOK_MS) {
      await sleep(LOOK_MS);
      if ((await read()) !== before) return true;
    }
    return false;
  }
}

const pauseOf = (row: InstallationRow | undefined): Pause | null =>
  row?.paused_at ? { since: row.paused_at, reason: row.pause_reason ?? '' } : null;

/** Marks a database that a backup was put into. */
export const pausedByRestore = (header: { created_at: string }): string =>
  `INSERT INTO installation (one, id, places, paused_at, pause_reason) VALUES
   (1, '${randomUUID()}', '[]', '${now()}', 'the backup of ${header.created_at} was restored')`;
