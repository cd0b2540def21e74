import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { IdentitiesRepository } from '../../auth/oauth/identities.repository.js';
import { PasskeysService } from '../../auth/passkeys/passkeys.service.js';
import { SecondFactorService } from '../../auth/second-factor/second-factor.service.js';
import { ChallengesService } from '../../auth/sessions/challenges.service.js';
import { SessionsService } from '../../auth/sessions/sessions.service.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import type { Holdings, Revoked } from './users.dto.js';

/** Credentials of a user besides the password: API tokens, passkeys, identities at providers. */
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

  /** The credentials that stay valid after a change of the password. */
  async of(manager: EntityManager, userId: number): Promise<Holdings> {
    return {
      tokens: await this.tokens.heldBy(userId, manager),
      passkeys: await this.passkeys.heldBy(manager, userId),
      identities: await this.identities.heldBy(userId, manager),
    };
  }

  /**
   * Deletes them with all sessions and open challenges. A token is deleted, not disabled: the holder of a session could
   * enable it again.
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
