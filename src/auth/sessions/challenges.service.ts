import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../../platform/common/clock.js';
import { randomHex, sha256 } from '../../platform/common/hash.js';
import { SECRET_BOX } from '../../platform/config/config.module.js';
import type { SecretBox } from '../../platform/config/secret-box.js';
import { SealedValues } from '../../platform/database/sealed-values.js';
import { ChallengesRepository } from './challenges.repository.js';

const CONTEXT = 'challenges.content';

/** The key of a challenge in the database. */
const idOf = (kind: ChallengeKind, key: string) => sha256(`${kind}|${key}`);

type ChallengeKind = 'passkey-add' | 'passkey-login' | 'oauth' | 'reset' | 'email-code' | 'second-factor' | 'ticket';

interface OpenOptions {
  userId?: number | null;
  /** what the client holds, where it is not generated here; an open challenge with this key is replaced */
  key?: string;
  manager?: EntityManager;
}

/**
 * Values that a client must return once, within minutes. They are stored encrypted in the database, so that any replica
 * can take them, under the hash of what the client holds.
 */
@Injectable()
export class ChallengesService {
  constructor(
    private readonly challenges: ChallengesRepository,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('challenges, for some minutes', {
      fleeting: true,
      heads: () => challenges.heads(now()),
      renew: () =>
        sealed.renewColumn<string>(
          CONTEXT,
          '',
          (id, head, limit) => challenges.sealedOtherwise(id, head, limit),
          (id, old, fresh) => challenges.replace(id, old, fresh),
        ),
      each: async () =>
        (await challenges.identifiedHeads(now())).map(({ id, kind, head }) => ({
          of: kind,
          head,
          drop: (manager) => challenges.delete(id, manager),
        })),
    });
  }

  /**
   * Stores `content` for `minutes`.
   * @returns what the client holds: 256 random bits as 64 hexadecimal characters
   */
  async open(
    kind: ChallengeKind,
    minutes: number,
    content: object,
    { userId = null, key: given, manager }: OpenOptions = {},
  ): Promise<string> {
    const key = given ?? randomHex(32);
    const id = idOf(kind, key);
    const sealed = this.box.encrypt(JSON.stringify(content), CONTEXT);
    if (given) await this.challenges.delete(id, manager);
    const row = { id, kind, user_id: userId, content: sealed, expires_at: now(minutes * 60_000) };
    await this.challenges.insert(row, manager);
    return key;
  }

  /** Takes a challenge: the first call gets the content; later ones, wrong keys and expired challenges get null. */
  async take<T>(
    kind: ChallengeKind,
    key: string,
    manager?: EntityManager,
  ): Promise<{ content: T; userId: number | null } | null> {
    const found = await this.look<T>(kind, key, manager);
    // the delete decides: of two at once one changes a row
    return found && (await this.challenges.delete(idOf(kind, key), manager)) ? found : null;
  }

  /** Reads a challenge and counts it as a try: null after `max` of them. For codes short enough to be guessed. */
  async try<T>(kind: ChallengeKind, key: string, max: number): Promise<T | null> {
    const counted = await this.challenges.countTry(idOf(kind, key), max);
    return counted ? ((await this.look<T>(kind, key))?.content ?? null) : null;
  }

  /** Ends all open challenges of a user and kind. */
  drop(kind: ChallengeKind, userId: number, manager: EntityManager): Promise<void> {
    return this.challenges.deleteOf(userId, kind, manager);
  }

  /**
   * Ends all open challenges of a user: mailed links and codes, sign-ins that wait for a code, new passkeys, bindings.
   */
  dropAll(manager: EntityManager, userId: number): Promise<void> {
    return this.challenges.deleteAllOf(userId, manager);
  }

  /** Reads a challenge without using it up. */
  async look<T>(
    kind: ChallengeKind,
    key: string,
    manager?: EntityManager,
  ): Promise<{ content: T; userId: number | null } | null> {
    const row = await this.challenges.find(idOf(kind, key), now(), manager);
    return row ? { content: JSON.parse(this.box.decrypt(row.content, CONTEXT)) as T, userId: row.user_id } : null;
  }
}
