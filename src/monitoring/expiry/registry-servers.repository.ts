import { Injectable } from '@nestjs/common';
import { Db, isDuplicate } from '../../platform/database/db.js';

/** Why a server is not asked for a while. */
export type ServerState = 'limited' | 'unavailable';

interface ServerRow {
  next_at: string;
  failures: number;
  state: ServerState | null;
  reason: string | null;
}

/** The table of RDAP and WHOIS servers. */
@Injectable()
export class RegistryServersRepository {
  constructor(private readonly db: Db) {}

  one(server: string): Promise<ServerRow | undefined> {
    const sql = 'SELECT next_at, failures, state, reason FROM registry_servers WHERE server = ?';
    return this.db.row<ServerRow>(sql, [server]);
  }

  /** @returns false when another process was faster */
  async add(server: string, nextAt: string): Promise<boolean> {
    try {
      await this.db.run('INSERT INTO registry_servers (server, next_at, failures) VALUES (?, ?, 0)', [server, nextAt]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Takes the turn that was seen to be due. @returns false when another process was faster */
  async take(server: string, seen: string, nextAt: string): Promise<boolean> {
    const sql = 'UPDATE registry_servers SET next_at = ?, state = NULL WHERE server = ? AND next_at = ?';
    return (await this.db.run(sql, [nextAt, server, seen])) > 0;
  }

  async resetFailures(server: string): Promise<void> {
    await this.db.run('UPDATE registry_servers SET failures = 0, reason = NULL WHERE server = ? AND failures > 0', [
      server,
    ]);
  }

  /** @returns how many there are in a row now */
  async addFailure(server: string): Promise<number> {
    await this.db.run('UPDATE registry_servers SET failures = failures + 1 WHERE server = ?', [server]);
    return Number((await this.one(server))?.failures ?? 1);
  }

  /** Pauses a server, unless it is paused for longer: of two processes the longer pause counts. */
  async pause(server: string, until: string, state: ServerState, reason: string): Promise<void> {
    await this.db.run(
      `UPDATE registry_servers SET next_at = ?, state = ?, reason = ?
        WHERE server = ? AND (state IS NULL OR next_at < ?)`,
      [until, state, reason, server, until],
    );
  }

  async removeIdleSince(at: string): Promise<void> {
    await this.db.run('DELETE FROM registry_servers WHERE next_at < ?', [at]);
  }
}
