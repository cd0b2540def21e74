import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { Db, isDuplicate } from '../database/db.js';
import { WINDOW_MS } from './signature.js';

/** ms between two looks for questions whose time alone refuses them */
const SWEEP_MS = 60_000;

/** What replicas of a node that checks for others share: its name, and which signed questions were taken. */
@Injectable()
export class CheckerStore {
  private name: string | null = null;
  /** when the next look is due, in ms of `performance.now()`, which nobody sets back */
  private sweepAt = 0;

  constructor(private readonly db: Db) {}

  /** The name of this node, made with the first question. */
  async node(): Promise<string> {
    this.name ??= await this.stored();
    return this.name;
  }

  private async stored(): Promise<string> {
    const read = () => this.db.row<{ node: string }>('SELECT node FROM checker_nodes WHERE id = 1');
    const known = await read();
    if (known) return known.node;
    const node = randomBytes(16).toString('hex');
    try {
      await this.db.run('INSERT INTO checker_nodes (id, node) VALUES (1, ?)', [node]);
      return node;
    } catch (error) {
      // another replica was faster
      if (!isDuplicate(error)) throw error;
      return (await read())?.node ?? node;
    }
  }

  /** Takes a signed question. @returns false when some replica took it before */
  async take(signature: string): Promise<boolean> {
    if (this.sweepAt < performance.now()) {
      this.sweepAt = performance.now() + SWEEP_MS;
      await this.db.run('DELETE FROM checker_questions WHERE until_at < ?', [now()]);
    }
    try {
      const sql = 'INSERT INTO checker_questions (signature, until_at) VALUES (?, ?)';
      await this.db.run(sql, [signature, now(2 * WINDOW_MS)]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
