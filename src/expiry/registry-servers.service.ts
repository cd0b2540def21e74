import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { now, timeMs } from '../common/clock.js';
import { Db, isDuplicate } from '../database/db.js';
import { storable } from '../outbound/outbound-error.js';
import { MAX_WAIT_MS, RegistrySilence } from './answers.js';

/** ms between two questions to one server: what registries that publish a limit bear */
const PACE_MS = 1000;
/** ms that a server is left alone after the first failure; twice as long after each one more */
const PAUSE_MS = { limited: 600_000, unavailable: 60_000 };
const MAX_PAUSE_MS = 6 * 3_600_000;
/** ms that a server is remembered that nobody asks: redirects lead to many */
const KEEP_MS = 30 * 24 * 3_600_000;

type State = keyof typeof PAUSE_MS;

interface Row {
  next_at: string;
  failures: number;
  state: State | null;
  reason: string | null;
}

/**
 * When each server of the registries may be asked: once a second by all processes together, and not at all for a while
 * after it said that it was too often, or did not answer. Kept in the database: a start does not forget a limit.
 */
@Injectable()
export class RegistryServers {
  constructor(private readonly db: Db) {}

  /**
   * Waits for the turn to ask a server.
   * @throws RegistrySilence `limited` or `unavailable`, with how long it is, when it is left alone; the signal's reason
   */
  async turn(server: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const row = await this.row(server);
      const wait = row ? Date.parse(row.next_at) - timeMs() : 0;
      if (row?.state && wait > 0)
        throw new RegistrySilence(row.state, `${row.reason}; asked again from ${row.next_at} on`, wait);
      // an end of the wait is seen above
      if (wait > 0) await pause(wait, undefined, { signal }).catch(() => undefined);
      else if (await this.take(server, row?.next_at)) return;
    }
  }

  /** It answered: whatever was before is over. */
  async answered(server: string): Promise<void> {
    await this.db.run('UPDATE registry_servers SET failures = 0, reason = NULL WHERE server = ? AND failures > 0', [
      server,
    ]);
  }

  /** Leaves it alone for as long as it asked, or longer with each failure. @returns ms */
  async failed(server: string, kind: State, reason: string, asked: number | null): Promise<number> {
    await this.db.run('UPDATE registry_servers SET failures = failures + 1 WHERE server = ?', [server]);
    const failures = Number((await this.row(server))?.failures ?? 1);
    const grown = Math.min(MAX_PAUSE_MS, PAUSE_MS[kind] * 2 ** Math.min(failures - 1, 16));
    const wait = Math.min(MAX_WAIT_MS, Math.max(PACE_MS, asked ?? grown));
    const next = now(wait);
    // of two processes the longer wait stands
    await this.db.run(
      `UPDATE registry_servers SET next_at = ?, state = ?, reason = ?
        WHERE server = ? AND (state IS NULL OR next_at < ?)`,
      [next, kind, storable(reason).slice(0, 200).toWellFormed(), server, next],
    );
    return wait;
  }

  /** Forgets those that nobody asked for a month. */
  async tidy(): Promise<void> {
    await this.db.run('DELETE FROM registry_servers WHERE next_at < ?', [now(-KEEP_MS)]);
  }

  private row(server: string): Promise<Row | undefined> {
    const sql = 'SELECT next_at, failures, state, reason FROM registry_servers WHERE server = ?';
    return this.db.row<Row>(sql, [server]);
  }

  private async take(server: string, seen: string | undefined): Promise<boolean> {
    const next = now(PACE_MS);
    if (seen !== undefined) {
      const sql = 'UPDATE registry_servers SET next_at = ?, state = NULL WHERE server = ? AND next_at = ?';
      return (await this.db.run(sql, [next, server, seen])) > 0;
    }
    try {
      await this.db.run('INSERT INTO registry_servers (server, next_at, failures) VALUES (?, ?, 0)', [server, next]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
