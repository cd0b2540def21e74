import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SECRET_BOX } from '../platform/config/config.module.js';
import { isSealed, type SecretBox } from '../platform/config/secret-box.js';
import { type Renewal, SEALED_HEAD, SealedValues } from '../platform/database/sealed-values.js';
import { CHANNEL_SECRETS, type StoredChannel, sealedIn } from './channels.js';
import { DocumentStore } from './document-store.js';
import { DEFAULTS, type DocumentName, type Documents, merged, type Row } from './documents.js';
import { SettingsRepository } from './settings.repository.js';

export const SMTP_PASSWORD = 'settings.smtp.password';
export const CLIENT_SECRET = 'settings.oauth.client_secret';

/** Sealed values of a section, and what each is for. */
type Inside = (row?: Row) => { of: string; sealed: unknown }[];

/** The sealed values inside of sections: which key sealed them, sealing them anew, and removing them. */
@Injectable()
export class SectionSecrets {
  constructor(
    private readonly documents: DocumentStore,
    private readonly settings: SettingsRepository,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly values: SealedValues,
  ) {
    this.keep('the password of the mail server', 'smtp', { password: SMTP_PASSWORD }, (row) => [
      { of: String(row?.values.host ?? ''), sealed: row?.values.password },
      { of: `${row?.confirmed?.host ?? ''}, confirmed before`, sealed: row?.confirmed?.password },
    ]);
    this.keep('secrets of OAuth providers', 'oauth', { client_secret: CLIENT_SECRET }, (row) =>
      read('oauth', row).providers.map(({ key, client_secret }) => ({ of: `provider ${key}`, sealed: client_secret })),
    );
    this.keep('secrets of notification channels', 'notifications', CHANNEL_SECRETS, (row) =>
      read('notifications', row).channels.flatMap((channel) =>
        sealedIn([channel]).map((sealed) => ({ of: `channel ${channel.id} (${channel.name})`, sealed })),
      ),
    );
  }

  /** @param contexts of the secrets in the document, by the name of their field */
  private keep(what: string, name: DocumentName, contexts: Record<string, string>, inside: Inside): void {
    const stored = async () =>
      inside(await this.documents.row(name)).flatMap(({ of, sealed }) =>
        sealed ? [{ of, sealed: String(sealed) }] : [],
      );
    this.values.keep(what, {
      heads: async () => (await stored()).map(({ sealed }) => sealed),
      renew: () => this.renew(name, contexts),
      each: async () =>
        (await stored()).map(({ of, sealed }) => ({
          of,
          head: sealed.slice(0, SEALED_HEAD),
          drop: (manager) => this.drop(name, sealed, manager),
        })),
    });
  }

  /** A channel that loses a secret is switched off: its messages would go nowhere, or unsigned. */
  private async drop(name: DocumentName, sealed: string, manager: EntityManager): Promise<void> {
    const row = await this.documents.locked(name, manager);
    if (!row) return;
    if (name === 'notifications')
      for (const channel of (row.values.channels ?? []) as StoredChannel[])
        if (Object.values(channel.config).includes(sealed)) channel.enabled = false;
    const left = JSON.stringify(row, (_key, value) => (value === sealed ? null : value));
    await this.documents.store(name, JSON.parse(left) as Row, manager);
  }

  private renew(name: DocumentName, contexts: Record<string, string>): Promise<Renewal> {
    return this.documents.change(name, async (row, manager) => {
      const done = { renewed: 0, unreadable: 0 };
      const fresh = JSON.stringify(row ?? null, (key, value) => {
        const context = contexts[key];
        // in some types of channels the field of this name is no secret
        if (!context || typeof value !== 'string' || !isSealed(value)) return value;
        const sealed = this.values.renewed(value, context);
        if (sealed) done.renewed += 1;
        else if (!this.box.knows(value)) done.unreadable += 1;
        return sealed ?? value;
      });
      if (done.renewed) await this.settings.put(name, fresh, manager);
      return done;
    });
  }
}

const read = <N extends DocumentName>(name: N, row?: Row): Documents[N] => merged(DEFAULTS[name], row?.values ?? {});
