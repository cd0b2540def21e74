import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, Module } from '@nestjs/common';
import { SECRET_BOX } from '../../platform/config/config.module.js';
import type { SecretBox } from '../../platform/config/secret-box.js';
import { SealedValues } from '../../platform/database/sealed-values.js';
import { HooksRepository } from './hooks.repository.js';

const CONTEXT = 'hooks.secret';

/** What deliveries are signed with: sealed, since it is needed as it is. */
@Injectable()
export class HookSecrets {
  constructor(
    hooks: HooksRepository,
    sealed: SealedValues,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {
    sealed.keep('secrets of inbound webhooks', {
      heads: async () => (await hooks.heads()).map(({ head }) => head),
      renew: () =>
        sealed.renewColumn<number>(
          CONTEXT,
          0,
          (id, head, limit) => hooks.sealedOtherwise(id, head, limit),
          (id, old, fresh) => hooks.replace(id, old, fresh),
        ),
      each: async () =>
        (await hooks.heads()).map(({ id, host, type, head }) => ({
          of: `hook ${id}: ${host} ${type}`,
          head,
          // without its secret it takes nothing
          drop: (manager) => hooks.delete(id, manager),
        })),
    });
  }

  seal(secret: string): string {
    return this.box.encrypt(secret, CONTEXT);
  }

  /** Whether `X-Hub-Signature-256` is that of a body. */
  signs(sealed: string, body: Buffer, signature: string): boolean {
    if (!this.box.knows(sealed)) return false;
    const own = createHmac('sha256', this.box.decrypt(sealed, CONTEXT)).update(body).digest();
    const given = Buffer.from(/^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1] ?? '', 'hex');
    return given.length === own.length && timingSafeEqual(given, own);
  }
}

/** The administration commands seal secrets anew, too. */
@Module({ providers: [HooksRepository, HookSecrets], exports: [HooksRepository, HookSecrets] })
export class HookSecretsModule {}
