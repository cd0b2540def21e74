import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { randomHex } from '../platform/common/hash.js';
import { SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { type Renewal, SEALED_HEAD, SealedValues } from '../platform/database/sealed-values.js';
import { DocumentStore } from './document-store.js';
import { SettingsRepository, SIGNED_WITH, SIGNING_SECRET } from './settings.repository.js';

export const SIGNING_CONTEXT = 'settings.signing_secret';

/** `until`: when its last JWT has expired; null: it signs now. */
interface SigningSecret {
  sealed: string;
  until: string | null;
}

/**
 * The sealed secrets that JWTs are signed with: the first signs, older ones verify until the last JWT that they signed
 * has expired.
 */
@Injectable()
export class SigningSecrets {
  constructor(
    private readonly documents: DocumentStore,
    private readonly settings: SettingsRepository,
    private readonly audit: AuditService,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly values: SealedValues,
  ) {
    values.keep('the secret that signs logins', {
      heads: async () => (await this.list()).map((one) => one.sealed),
      renew: () => this.renew(),
      each: async () =>
        (await this.list()).map(({ sealed, until }) => ({
          of: until ? `one that verifies until ${until}` : 'the one that signs now',
          head: sealed.slice(0, SEALED_HEAD),
          drop: (manager) => this.drop(sealed, manager),
        })),
    });
  }

  async list(manager?: EntityManager): Promise<SigningSecret[]> {
    const [current, older] = await this.settings.getBoth([SIGNING_SECRET, SIGNED_WITH], manager);
    const signing = current ? [{ sealed: current, until: null }] : [];
    const verifying = older ? (JSON.parse(older) as SigningSecret[]) : [];
    return [...signing, ...verifying.filter(({ until }) => until === null || until > now())];
  }

  /** The first one, 256 fresh bits, in the transaction that creates the first user. */
  create(manager: EntityManager): Promise<void> {
    return this.settings.put(SIGNING_SECRET, this.fresh(), manager);
  }

  /** Signs with 256 fresh bits from now on. @param until when the last JWT of the one before will have expired */
  rotate(until: string): Promise<void> {
    return this.documents.change('security', async (_row, manager) => {
      const [current, ...older] = await this.list(manager);
      if (!current) throw errors.notFound('signing_secret');
      await this.settings.put(SIGNED_WITH, JSON.stringify([{ ...current, until }, ...older]), manager);
      await this.settings.put(SIGNING_SECRET, this.fresh(), manager);
      const target = { type: 'settings', id: null, name: SIGNING_SECRET };
      await this.audit.write(manager, 'system', { action: 'system.rotate_jwt_key', target, after: { until } });
    });
  }

  /** Sessions that it signed have to sign in again. */
  private async drop(sealed: string, manager: EntityManager): Promise<void> {
    await this.documents.locked('security', manager);
    const [current, ...older] = await this.list(manager);
    if (current?.sealed === sealed) return this.settings.put(SIGNING_SECRET, this.fresh(), manager);
    const left = older.filter((one) => one.sealed !== sealed);
    await this.settings.put(SIGNED_WITH, JSON.stringify(left), manager);
  }

  private fresh(): string {
    return this.box.encrypt(randomHex(32), SIGNING_CONTEXT);
  }

  private renew(): Promise<Renewal> {
    return this.documents.change('security', async (_row, manager) => {
      const list = await this.list(manager);
      const fresh = list.map(({ sealed, until }) => ({
        sealed: this.values.renewed(sealed, SIGNING_CONTEXT) ?? sealed,
        until,
      }));
      const renewed = fresh.filter(({ sealed }, i) => sealed !== list[i]?.sealed).length;
      const [current, ...older] = fresh;
      if (renewed && current) await this.settings.put(SIGNING_SECRET, current.sealed, manager);
      if (renewed && older.length) await this.settings.put(SIGNED_WITH, JSON.stringify(older), manager);
      return { renewed, unreadable: fresh.filter(({ sealed }) => !this.box.knows(sealed)).length };
    });
  }
}
