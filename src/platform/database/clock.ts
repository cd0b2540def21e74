import { performance } from 'node:perf_hooks';
import type { DataSource } from 'typeorm';
import { keepTime } from '../common/clock.js';

/** The server's time in ms, whatever the time zone of the connection. */
const SQL = {
  postgres: 'SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS ms',
  mysql: `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000 AS ms`,
};
/** looks for the first one that is followed */
const FIRST_LOOKS = 3;
/** ms by which a look may be wrong, half of the time that it takes, and how fast what is known gets worse */
const MAX_ERROR_MS = 2500;
const DRIFT = 0.000_2;

/**
 * Follows the clock of a database, so that all of its processes have one time. Between two looks the time goes on by
 * the monotonic clock: who sets the machine's changes nothing. A file of SQLite has the clock of its machine.
 */
export class DatabaseClock {
  /** what was seen last, less the monotonic clock; by how much it may be wrong, and since when */
  private known: { ahead: number; error: number; at: number } | null = null;

  constructor(private readonly source: DataSource) {}

  /** A look at the clock of the database that was just opened. @throws the driver's error */
  async begin(): Promise<void> {
    this.known = null;
    for (let i = 0; i < FIRST_LOOKS; i++) await this.look();
  }

  /** One look. @throws the driver's error */
  async look(): Promise<void> {
    const { type } = this.source.options;
    if (type === 'better-sqlite3') return keepTime(null);
    const begin = performance.now();
    const [row] = (await this.source.query(SQL[type === 'postgres' ? type : 'mysql'])) as [{ ms: string | number }];
    const at = performance.now();
    const error = (at - begin) / 2;
    const ahead = Number(row.ms) - (begin + at) / 2;
    if (this.known) {
      const doubt = this.known.error + (at - this.known.at) * DRIFT;
      // within what was known already, and less certain than that
      if (error > MAX_ERROR_MS || (error > doubt && Math.abs(ahead - this.known.ahead) <= error + doubt)) return;
    }
    this.known = { ahead, error, at };
    keepTime(ahead + at, at);
  }
}
