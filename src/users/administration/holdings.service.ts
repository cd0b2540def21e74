import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { IdentitiesRepository } from '../../auth/oauth/identities.repository.js';
import { PasskeysService } from '../../auth/passkeys/passkeys.service.js';
import { SecondFactorService } from '../../auth/second-factor/second-factor.service.js';
import { ChallengesService } from '../../auth/sessions/challenges.service.js';
import { SessionsService } from '../../auth/sessions/sessions.service.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import type { Holdings, Revoked } from './users.dto.js';

/** What opens an account besides its password. */
@Injectable()
export class HoldingsService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly challenges: ChallengesService,
    private readonly tokens: ApiTokensRepository,
    private readonly passkeys: PasskeysService,
    private readonly identities: IdentitiesRepository,
    private readonly secondFactor: SecondFactorService,
  ) {}

  /** What goes on working after a new password. */
  async of(manager: EntityManager, userId: number): Promise<Holdings> {
    return {
      tokens: await this.tokens.heldBy(userId, manager),
      passkeys: await this.passkeys.heldBy(manager, userId),
      identities: await this.identities.heldBy(userId, manager),
    };
  }

  /**
   * Takes it away, with all sessions and whatever was begun. Deleted, since who holds a session could switch a token on
   * again.
   */
  async revoke(manager: EntityManager, userId: number, secondFactor: boolean): Promise<Revoked> {
    const revoked = {
      sessions: await this.sessions.endAll(manager, userId),
      tokens: await this.tokens.deleteAll(userId, manager),
      passkeys: await this.passkeys.removeAll(manager, userId),
      identities: await this.identities.deleteAll(userId, manager),
    };
    await this.challenges.dropAll(manager, userId);
    return { ...revoked, second_factor: secondFactor && (await this.secondFactor.remove(manager, userId)) };
  }
}
