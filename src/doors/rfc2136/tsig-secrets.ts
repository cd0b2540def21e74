import { Inject, Injectable, Module } from '@nestjs/common';
import { SECRET_BOX } from '../../platform/config/config.module.js';
import type { SecretBox } from '../../platform/config/secret-box.js';
import { SealedValues } from '../../platform/database/sealed-values.js';
import { TsigKeysRepository } from './tsig-keys.repository.js';

const CONTEXT = 'tsig_keys.secret';

/** What messages are signed with: sealed, since it is needed as it is. */
@Injectable()
export class TsigSecrets {
  constructor(
    keys: TsigKeysRepository,
    sealed: SealedValues,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {
    sealed.keep('secrets of TSIG keys', {
      heads: async () => (await keys.heads()).map(({ head }) => head),
      renew: () =>
        sealed.renewColumn<number>(
          CONTEXT,
          0,
          (id, head, limit) => keys.sealedOtherwise(id, head, limit),
          (id, old, fresh) => keys.replace(id, old, fresh),
        ),
      each: async () =>
        (await keys.heads()).map(({ id, name, head }) => ({
          of: `TSIG key ${name}`,
          head,
          // without its secret it signs nothing
          drop: (manager) => keys.delete(id, manager),
        })),
    });
  }

  /** @param secret base64 */
  seal(secret: string): string {
    return this.box.encrypt(secret, CONTEXT);
  }

  /** null: it was sealed with a key that is lost. */
  open(sealed: string): Buffer | null {
    return this.box.knows(sealed) ? Buffer.from(this.box.decrypt(sealed, CONTEXT), 'base64') : null;
  }
}

/** The administration commands seal secrets anew, too. */
@Module({ providers: [TsigKeysRepository, TsigSecrets], exports: [TsigKeysRepository, TsigSecrets] })
export class TsigSecretsModule {}
