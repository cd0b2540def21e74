import { Injectable } from '@nestjs/common';
import { Db, isDuplicate } from '../../../platform/database/db.js';

/** The name of this node among checkers, which all its replicas share. */
@Injectable()
export class CheckerNodesRepository {
  constructor(private readonly db: Db) {}

  async name(): Promise<string | undefined> {
    return (await this.db.row<{ node: string }>('SELECT node FROM checker_nodes WHERE id = 1'))?.node;
  }

  /** @returns false when another replica has added one */
  async add(node: string): Promise<boolean> {
    try {
      await this.db.run('INSERT INTO checker_nodes (id, node) VALUES (1, ?)', [node]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
