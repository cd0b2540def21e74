import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, Role, signedIn } from '../common/access.js';
import { inCidrs, parseCidr } from '../common/cidr.js';
import { errors } from '../common/errors.js';
import type { Config } from '../config/config.js';
import { CONFIG, SECRET_BOX } from '../config/config.module.js';
import type { SecretBox } from '../config/secret-box.js';
import { Db } from '../database/db.js';
import { DEFAULTS, type DocumentName, type Documents, merged, nulls, type Row, securityFrom } from './documents.js';
import type { OauthInput, OauthProvider, OauthView } from './oauth-settings.dto.js';
import type { GeneralInput, SecurityInput, SecuritySettings, SmtpInput, SmtpView } from './settings.dto.js';

const SMTP_PASSWORD = 'settings.smtp.password';
const CLIENT_SECRET = 'settings.oauth.client_secret';

/** Whether a stored secret would now be sent to somebody else. */
const moved = (a: OauthProvider, b: OauthProvider) =>
  (a.issuer ?? '') !== (b.issuer ?? '') || (a.token_endpoint ?? '') !== (b.token_endpoint ?? '');

/** Settings of the installation: documents in the `settings` table, read anew at each use, so that all replicas follow at once. Secrets in them are encrypted. */
@Injectable()
export class SettingsService {
  constructor(
    private readonly db: Db,
    private readonly audit: AuditService,
    private readonly http: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** A document as stored, defaults filled in. */
  async read<N extends DocumentName>(name: N, manager?: EntityManager): Promise<Documents[N]> {
    const row = await this.row(name, manager);
    return merged(DEFAULTS[name], row?.values ?? {});
  }

  async security(): Promise<SecuritySettings> {
    return securityFrom(await this.text('security'));
  }

  /** With the password in plain text, for who connects. */
  async smtp(): Promise<Documents['smtp']> {
    const stored = await this.read('smtp');
    return { ...stored, password: stored.password && this.box.decrypt(stored.password, SMTP_PASSWORD) };
  }

  /** With client secrets in plain text, for who talks to the providers. Empty while OAuth is off. */
  async oauthProviders(): Promise<Documents['oauth']['providers']> {
    const { enabled, providers } = await this.read('oauth');
    return enabled ? providers.map((p) => ({ ...p, client_secret: this.plainSecret(p.client_secret) })) : [];
  }

  /**
   * Public address of the service without final slash: BASE_URL, else the setting, else localhost. Never what a request says of itself: a forged Host header
   * would put a stranger's address into mails.
   */
  async publicUrl(): Promise<string> {
    if (this.config.baseUrl) return this.config.baseUrl;
    const { base_url } = await this.read('general');
    if (base_url) return base_url.replace(/\/+$/, '');
    return `http://localhost:${this.http.httpAdapter?.getHttpServer()?.address()?.port ?? this.config.port}`;
  }

  /**
   * The lowest role of those who changed the document or the public address last: users above it are not let in, nor mailed a secret, by its means. Else an
   * administrator could have a super administrator's reset link, or authorization code, sent to a server of their own.
   */
  async trustIn(name: 'smtp' | 'oauth'): Promise<number> {
    const rows = await Promise.all([this.row(name), this.config.baseUrl ? undefined : this.row('general')]);
    return Math.min(...rows.map((row) => row?.by_role ?? Role.Super));
  }

  async smtpView(): Promise<SmtpView> {
    return smtpView(await this.read('smtp'));
  }

  async oauthView(): Promise<OauthView> {
    return oauthView(await this.read('oauth'));
  }

  /** @throws AppError 400001 */
  async updateGeneral(input: GeneralInput, caller: Caller): Promise<Documents['general']> {
    assertNoNulls('general', input);
    return this.update('general', caller, (old) => merged(old, input));
  }

  /** @throws AppError 400001, when the caller's own network would be shut out, too */
  async updateSecurity(input: SecurityInput, caller: Caller): Promise<SecuritySettings> {
    assertNoNulls('security', input);
    return this.update('security', caller, (old) => {
      const value = merged(old, input);
      if (value.allowed_cidrs.length && !inCidrs(caller.ip, value.allowed_cidrs.map(parseCidr))) {
        throw errors.field('allowed_cidrs', `must contain your own address, ${caller.ip}, or you would be shut out`);
      }
      const { lock_minutes, max_lock_minutes } = value.login_limit;
      if (max_lock_minutes < lock_minutes)
        throw errors.field('login_limit.max_lock_minutes', 'must not be below lock_minutes');
      return value;
    });
  }

  /** @throws AppError 400001 */
  async updateSmtp({ password, password_set: _told, ...input }: SmtpInput, caller: Caller): Promise<SmtpView> {
    assertNoNulls('smtp', input);
    const stored = await this.update(
      'smtp',
      caller,
      (old) => {
        const value = merged(old, input);
        if (value.enabled && !value.host) throw errors.field('host', 'is needed when mail is on');
        if (value.enabled && !value.from) throw errors.field('from', 'is needed when mail is on');
        if (password === undefined && old.password && value.host !== old.host)
          throw errors.field('password', 'must be sent again when the host changes: it would go to another server');
        if (password !== undefined)
          value.password = password === null ? null : this.box.encrypt(password, SMTP_PASSWORD);
        return value;
      },
      smtpView,
    );
    return smtpView(stored);
  }

  /** @throws AppError 400001 */
  async updateOauth(input: OauthInput, caller: Caller): Promise<OauthView> {
    const stored = await this.update(
      'oauth',
      caller,
      (old) => ({
        enabled: input.enabled ?? old.enabled,
        providers:
          input.providers?.map(({ client_secret, client_secret_set: _told, ...provider }, i) => {
            assertComplete(provider, `providers.${i}`);
            const known = old.providers.find((p) => p.key === provider.key);
            if (client_secret === undefined && known?.client_secret && moved(known, provider)) {
              throw errors.field(`providers.${i}.client_secret`, 'must be sent again when the provider moves');
            }
            const kept = client_secret === undefined ? (known?.client_secret ?? null) : null;
            return {
              ...provider,
              client_secret: client_secret ? this.box.encrypt(client_secret, CLIENT_SECRET) : kept,
            };
          }) ?? old.providers,
      }),
      oauthView,
    );
    return oauthView(stored);
  }

  private plainSecret(sealed: string | null): string | null {
    return sealed && this.box.decrypt(sealed, CLIENT_SECRET);
  }

  /** Reads, changes and stores a document in one transaction; two changes at once follow each other. */
  private update<N extends DocumentName>(
    name: N,
    caller: Caller,
    change: (old: Documents[N]) => Documents[N],
    shown: (value: Documents[N]) => unknown = (value) => value,
  ): Promise<Documents[N]> {
    return this.db.transaction(async (manager) => {
      await this.db.run('UPDATE audit_chain SET seq = seq WHERE id = 1', [], manager);
      const old = await this.read(name, manager);
      const value = change(old);
      const row: Row = { values: value as unknown as Row['values'], by_role: signedIn(caller).role };
      await this.db.run('DELETE FROM settings WHERE name = ?', [name], manager);
      await this.db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [name, JSON.stringify(row)], manager);
      const target = { type: 'settings', id: null, name };
      await this.audit.write(manager, caller, {
        action: 'settings.update',
        target,
        before: shown(old),
        after: shown(value),
      });
      return value;
    });
  }

  private async row(name: DocumentName, manager?: EntityManager): Promise<Row | undefined> {
    const text = await this.text(name, manager);
    return text ? JSON.parse(text) : undefined;
  }

  private async text(name: DocumentName, manager?: EntityManager): Promise<string | undefined> {
    const sql = 'SELECT content FROM settings WHERE name = ?';
    return (await this.db.row<{ content: string }>(sql, [name], manager))?.content;
  }
}

/** @throws AppError 400001 naming the fields that may be left out, but not be null */
function assertNoNulls(name: DocumentName, change: object): void {
  const list = nulls(DEFAULTS[name], change).map((path) => ({
    path,
    message: 'must not be null; leave it out to keep it',
  }));
  if (list.length) throw errors.validation(list);
}

const smtpView = ({ password, ...shown }: Documents['smtp']): SmtpView => ({
  ...shown,
  password_set: password !== null,
});

const oauthView = ({ enabled, providers }: Documents['oauth']): OauthView => ({
  enabled,
  providers: providers.map(({ client_secret, ...shown }) => ({ ...shown, client_secret_set: client_secret !== null })),
});

const isTrusted = (url: string) =>
  url.startsWith('https:') || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** @throws AppError 400001 unless it is a whole OpenID provider or a whole OAuth 2.0 provider */
function assertComplete(provider: OauthProvider, path: string): void {
  const plain = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'subject_field'] as const;
  for (const field of ['issuer', ...plain.slice(0, 3)] as const) {
    const url = provider[field];
    if (url && !isTrusted(url))
      throw errors.field(`${path}.${field}`, 'must be https; plain http is for loopback only');
  }
  const given = plain.filter((field) => provider[field]);
  if (provider.issuer && given.length)
    throw errors.field(`${path}.${given[0]}`, 'belongs to providers without issuer; leave one of the two out');
  if (provider.issuer) return;
  const missing = plain.filter((field) => !provider[field]);
  if (missing.length === plain.length)
    throw errors.field(`${path}.issuer`, 'is needed, or the endpoints and subject_field of a plain OAuth 2.0 provider');
  if (missing.length)
    throw errors.validation(missing.map((field) => ({ path: `${path}.${field}`, message: 'is needed' })));
}
