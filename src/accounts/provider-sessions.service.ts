import { Inject, Injectable } from '@nestjs/common';
import { after, type Cancel, now, timeMs } from '../platform/common/clock.js';
import { Logger } from '../platform/common/logger.js';
import { SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { type KnownSession, memorySessions, type SharedSessions } from '../providers/shared-sessions.js';
import { ProviderSessionsRepository } from './provider-sessions.repository.js';

const CONTEXT = 'provider_sessions.session';
/** ms that a call waits for the database: it goes on with what this process knows */
const PATIENCE_MS = 2_000;
/** ms for which a time step is kept: codes of older ones are not taken anyway */
const STEP_MS = 3_600_000;

/**
 * Sessions at providers for all processes of the installation, sealed in the database. Without it this process has its
 * own, so that no call fails for that.
 */
@Injectable()
export class ProviderSessions implements SharedSessions {
  private readonly own = memorySessions();

  constructor(
    private readonly sessions: ProviderSessionsRepository,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly logger: Logger,
    sealed: SealedValues,
  ) {
    sealed.keep('sessions at providers, for some minutes', {
      fleeting: true,
      heads: async () => (await sessions.heads(now())).map(({ head }) => head),
      renew: () =>
        sealed.renewColumn<string>(
          CONTEXT,
          '',
          (id, head, limit) => sessions.sealedOtherwise(id, head, limit),
          (id, old, fresh) => sessions.replace(id, old, fresh),
        ),
      each: async () =>
        (await sessions.heads(now())).map(({ id, head }) => ({
          of: 'a session at a provider',
          head,
          drop: (manager) => sessions.delete(id, manager),
        })),
    });
  }

  get(key: string): Promise<KnownSession | undefined> {
    return this.orElse(
      async () => (await this.find(key))?.known,
      () => this.own.get(key),
    );
  }

  async set(key: string, session: KnownSession): Promise<void> {
    await this.own.set(key, session);
    const sealed = this.box.encrypt(session.token, CONTEXT);
    const put = () => this.sessions.put({ id: key, session: sealed, expires_at: now(session.seconds * 1000) });
    await this.orElse(put, async () => undefined);
  }

  async forget(key: string, token: string): Promise<void> {
    await this.own.forget(key, token);
    const drop = async () => {
      const found = await this.find(key);
      if (found?.known.token === token) await this.sessions.drop(key, found.sealed);
    };
    await this.orElse(drop, async () => undefined);
  }

  async claim(key: string, step: number): Promise<boolean> {
    if (!(await this.own.claim(key, step))) return false;
    return this.orElse(
      () => this.sessions.claim(key, step, now(STEP_MS)),
      async () => true,
    );
  }

  /** Deletes what has ended. */
  deleteExpired(): Promise<void> {
    return this.sessions.deleteExpired(now());
  }

  private async find(key: string): Promise<{ known: KnownSession; sealed: string } | undefined> {
    const row = await this.sessions.find(key, now());
    // one whose key was lost is none
    if (!row || !this.box.knows(row.session)) return undefined;
    const token = this.box.decrypt(row.session, CONTEXT);
    const seconds = (Date.parse(row.expires_at) - timeMs()) / 1000;
    return { known: { token, seconds }, sealed: row.session };
  }

  /** What the database says, or what takes its place when it fails or takes too long. */
  private async orElse<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    let cancel: Cancel | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = after(PATIENCE_MS, () => reject(new Error(`no answer within ${PATIENCE_MS} ms`)));
    });
    try {
      return await Promise.race([ask(), late]);
    } catch (error) {
      this.logger.warn({ err: (error as Error).message }, 'sessions at providers are those of this process alone');
      return otherwise();
    } finally {
      cancel?.();
    }
  }
}
