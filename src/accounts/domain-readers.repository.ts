import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../platform/database/db.js';
import type { Readers } from '../platform/events/events.js';

/**
 * Who may read domains that are about to be removed: afterwards nobody can find out any more. It stands here, although
 * domains are above accounts, since the domains of an account are deleted with it. Administrators read all.
 */
@Injectable()
export class DomainReadersRepository {
  constructor(private readonly db: Db) {}

  ofDomain(id: number, manager: EntityManager): Promise<Map<number, Readers>> {
    return this.of('id', id, manager);
  }

  ofAccount(accountId: number, manager: EntityManager): Promise<Map<number, Readers>> {
    return this.of('account_id', accountId, manager);
  }

  private async of(column: 'id' | 'account_id', value: number, manager: EntityManager): Promise<Map<number, Readers>> {
    const rows = await this.db.rows<{ id: number; owner_id: number | null; team_id: number | null }>(
      `SELECT DISTINCT d.id, d.owner_id, p.team_id
       FROM domains d LEFT JOIN domain_permissions p ON p.domain_id = d.id WHERE d.${column} = ?`,
      [value],
      manager,
    );
    const found = new Map<number, Readers>();
    for (const { id, owner_id, team_id } of rows) {
      const readers = found.get(id) ?? { owner: owner_id, teams: [] };
      if (team_id !== null) readers.teams.push(team_id);
      found.set(id, readers);
    }
    return found;
  }
}
