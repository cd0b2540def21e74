import { Injectable } from '@nestjs/common';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { Passkey } from './passkey.entity.js';

/** The statements of the table `passkeys`. */
@Injectable()
export class PasskeysRepository {
  constructor(private readonly db: Db) {}

  find(by: FindOptionsWhere<Passkey>, manager: EntityManager = this.db.source.manager): Promise<Passkey | null> {
    return manager.findOneBy(Passkey, by);
  }

  /** The passkeys of a user, the oldest first. */
  of(userId: number, manager: EntityManager = this.db.source.manager): Promise<Passkey[]> {
    return manager.find(Passkey, { where: { user_id: userId }, order: { id: 'ASC' } });
  }

  /** @returns the id of the new passkey */
  async insert(row: Omit<Passkey, 'id' | 'user'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(Passkey, row);
    return Number(identifiers[0]?.id);
  }

  async rename(id: number, name: string, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE passkeys SET name = ? WHERE id = ?', [name, id], manager);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM passkeys WHERE id = ?', [id], manager);
  }

  /** @returns how many */
  deleteAll(userId: number, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM passkeys WHERE user_id = ?', [userId], manager);
  }

  /** The stored signature counter. */
  async counter(id: number): Promise<string | undefined> {
    return (await this.db.row<{ counter: string }>('SELECT counter FROM passkeys WHERE id = ?', [id]))?.counter;
  }

  /** Stores a use. @returns false when the counter is not `before` any more */
  async storeUse(
    id: number,
    before: string,
    { counter, backedUp }: { counter: number; backedUp: boolean },
    at: string,
  ): Promise<boolean> {
    const changed = await this.db.run(
      'UPDATE passkeys SET counter = ?, backed_up = ?, last_used_at = ? WHERE id = ? AND counter = ?',
      [String(counter), backedUp, at, id, before],
    );
    return changed > 0;
  }
}
