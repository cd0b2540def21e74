import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/access.js';
import { AppError, errors, fieldError } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import { UsersRepository } from '../users/users.repository.js';
import { TeamsService } from './teams.service.js';

/** Who approves: whoever one of these is true of. */
interface Named {
  by: { role?: number; team_id?: number; user_ids?: number[] };
}

/** Who may approve changes of a domain's records. */
@Injectable()
export class Approvers {
  constructor(
    private readonly teams: TeamsService,
    private readonly users: UsersRepository,
  ) {}

  /** That those who shall approve are there. @throws AppError 400001, also for a team that the caller may not see */
  async assertThere(me: Principal, { by: { team_id, user_ids = [] } }: Named): Promise<void> {
    const known = await this.users.among(user_ids);
    const wrong = user_ids.flatMap((id, i) =>
      known.has(id) ? [] : [fieldError(`approval.by.user_ids.${i}`, say('no such user: {id}', { id }), 'unknown')],
    );
    const seen = team_id === undefined || (await this.seesTeam(me, team_id));
    if (!seen) wrong.push(fieldError('approval.by.team_id', 'no such team', 'unknown'));
    if (wrong.length) throw errors.validation(wrong);
  }

  /** Whether somebody is one of those who approve. */
  async isOne(me: Principal, { by: { role, team_id, user_ids } }: Named): Promise<boolean> {
    if ((role !== undefined && me.role >= role) || user_ids?.includes(me.userId)) return true;
    return team_id !== undefined && (await this.teams.idsOf(me.userId)).has(team_id);
  }

  private seesTeam(me: Principal, id: number): Promise<boolean> {
    return this.teams.open(me, id, 'see').then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.status < 500) return false;
        throw error;
      },
    );
  }
}
