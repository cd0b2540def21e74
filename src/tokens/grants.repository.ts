import { Injectable } from '@nestjs/common';
import { Db } from '../platform/database/db.js';

/** What a team may do in a domain. */
interface TeamGrant {
  name: string;
  permission: string;
  host: string | null;
}

/** Reads the grants of a user from tables of other rooms, to explain them. */
@Injectable()
export class GrantsRepository {
  constructor(private readonly db: Db) {}

  async isOwner(userId: number, domainId: number): Promise<boolean> {
    const sql = 'SELECT id FROM domains WHERE id = ? AND owner_id = ?';
    return (await this.db.row(sql, [domainId, userId])) !== undefined;
  }

  /** What the teams of a user may do in a domain. */
  ofTeams(userId: number, domainId: number): Promise<TeamGrant[]> {
    return this.db.rows(
      `SELECT t.name, p.permission, p.host FROM team_members m JOIN domain_permissions p ON p.team_id = m.team_id
         JOIN teams t ON t.id = m.team_id WHERE m.user_id = ? AND p.domain_id = ? ORDER BY t.name, p.id`,
      [userId, domainId],
    );
  }

  /** The keys of the sign-in providers that a user is bound to. */
  async signInProviders(userId: number): Promise<string[]> {
    const rows = await this.db.rows<{ provider: string }>('SELECT provider FROM identities WHERE user_id = ?', [
      userId,
    ]);
    return rows.map(({ provider }) => provider);
  }
}
