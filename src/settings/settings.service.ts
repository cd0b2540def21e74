import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { type Caller, Role, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { inCidrs, parseCidr } from '../platform/common/cidr.js';
import { timeMs } from '../platform/common/clock.js';
import { errors, fieldError } from '../platform/common/errors.js';
import { same } from '../platform/common/read-only.js';
import { dayOf, dayStart } from '../platform/common/time-zone.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { say } from '../platform/common/words/field-text.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG, SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { assertConditions, type Conditions, entityTag } from '../platform/http/conditions.js';
import {
  assertNoNulls,
  assertStatusUnchanged,
  bareHost,
  incomplete,
  moved,
  rulesOf,
  type SectionStatus,
} from './assertions.js';
import type { AuditRules, AuditRulesInput } from './audit-rules.dto.js';
import type { NotificationsInput, NotificationsView } from './channels.dto.js';
import { nextChannels, opened, type StoredChannel } from './channels.js';
import { type ConfirmedSection, confirmation, isConfirmed, namedBy } from './confirmation.js';
import { DocumentStore } from './document-store.js';
import { DEFAULTS, type DocumentName, type Documents, merged, type Row, securityFrom } from './documents.js';
import type { DoorsInput, DoorsSettings } from './doors.dto.js';
import type { OauthInput, OauthView } from './oauth-settings.dto.js';
import { CLIENT_SECRET, SMTP_PASSWORD } from './section-secrets.js';
import type { Confirmed, GeneralInput, SecurityInput, SecuritySettings, SmtpInput, SmtpView } from './settings.dto.js';
import { type Views, viewOf } from './views.js';

/** @throws AppError 412001 */
const assertSeen = (conditions: Conditions, settings: object) =>
  assertConditions(conditions, entityTag(settings), { settings });

/**
 * Settings of the installation: documents in the `settings` table, read anew at each use, so that all replicas follow
 * at once. Secrets in them are encrypted.
 */
@Injectable()
export class SettingsService {
  constructor(
    private readonly documents: DocumentStore,
    private readonly audit: AuditService,
    private readonly http: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** A document as stored, defaults filled in; also what waits for a super administrator. */
  async read<N extends DocumentName>(name: N, manager?: EntityManager): Promise<Documents[N]> {
    return merged(DEFAULTS[name], (await this.documents.row(name, manager))?.values ?? {});
  }

  /** A document with its last confirmed fields: for what carries secrets, and for sign-ins. */
  async confirmed<N extends 'general' | 'smtp'>(name: N): Promise<Documents[N]> {
    const row = await this.documents.row(name);
    return { ...merged(DEFAULTS[name], row?.values ?? {}), ...row?.confirmed };
  }

  /** The settings that bind a role; null: anonymous callers, who may have any. */
  async securityFor(role: number | null): Promise<SecuritySettings> {
    return (await this.security())(role);
  }

  /** The same of any role, as they are at this moment. */
  async security(): Promise<(role: number | null) => SecuritySettings> {
    const text = await this.documents.text('security');
    return (role) => securityFrom(text, role);
  }

  /** The mail server with its password in plain text. @param confirmed for mails that carry a secret */
  async smtp(confirmed = false): Promise<Documents['smtp']> {
    const stored = await (confirmed ? this.confirmed('smtp') : this.read('smtp'));
    return { ...stored, password: stored.password && this.box.decrypt(stored.password, SMTP_PASSWORD) };
  }

  /**
   * The providers that one can sign in at, as stored: none while OAuth is off, none that waits for a super
   * administrator.
   */
  async offeredProviders(): Promise<Documents['oauth']['providers']> {
    const row = await this.documents.row('oauth');
    const { enabled, providers } = merged(DEFAULTS.oauth, row?.values ?? {});
    return enabled ? providers.filter(({ key }) => isConfirmed(row, key)) : [];
  }

  /** The same with client secrets in plain text, for calls of the providers. */
  async oauthProviders(): Promise<Documents['oauth']['providers']> {
    const providers = await this.offeredProviders();
    return providers.map((p) => ({ ...p, client_secret: this.plainSecret(p.client_secret) }));
  }

  /**
   * Public address of the service without final slash: BASE_URL, else the confirmed setting, else localhost. Never what
   * a request says of itself: a forged Host header would put a stranger's address into mails.
   */
  async publicUrl(): Promise<string> {
    if (this.config.baseUrl) return this.config.baseUrl;
    const { base_url } = await this.confirmed('general');
    if (base_url) return base_url.replace(/\/+$/, '');
    return `http://localhost:${this.http.httpAdapter?.getHttpServer()?.address()?.port ?? this.config.port}`;
  }

  /** The start of the first day for which the audit log is kept; null: it is kept for ever. */
  async keptSince(): Promise<string | null> {
    const { retention_days: days } = await this.read('audit-rules');
    if (days === null) return null;
    const { timezone } = await this.read('general');
    return new Date(dayStart(dayOf(timeMs(), timezone), timezone, -days)).toISOString();
  }

  /** A section as its route answers it. */
  async view<N extends DocumentName>(name: N): Promise<Views[N]> {
    const row = await this.documents.row(name);
    return viewOf(name, merged(DEFAULTS[name], row?.values ?? {}), row);
  }

  /** @throws AppError 400001, 412001 */
  async updateGeneral(
    { confirmed, waiting, ...input }: GeneralInput,
    caller: Caller,
    seen: Conditions,
  ): Promise<Views['general']> {
    assertNoNulls('general', input);
    return this.update('general', caller, seen, { confirmed, waiting }, input, (old) => merged(old, input));
  }

  /** @throws AppError 412001, 400001, when the caller's own network would be shut out, too */
  async updateSecurity(
    { confirmed, waiting, ...input }: SecurityInput,
    caller: Caller,
    seen: Conditions,
  ): Promise<Views['security']> {
    assertNoNulls('security', input);
    return this.update('security', caller, seen, { confirmed, waiting }, input, (old, supers) => {
      const value = merged(old, input);
      const own = supers ?? value;
      const wrong: FieldError[] = [];
      if (own.allowed_cidrs.length && !inCidrs(caller.ip, own.allowed_cidrs.map(parseCidr))) {
        const words = say('must contain your own address, {address}, or you would be shut out', { address: caller.ip });
        wrong.push(fieldError('allowed_cidrs', words, 'conflict'));
      }
      const short = [value, ...(supers ? [supers] : [])].find(
        ({ login_limit: limit }) => limit.max_lock_minutes < limit.lock_minutes,
      );
      if (short) {
        const min = short.login_limit.lock_minutes;
        wrong.push(fieldError('login_limit.max_lock_minutes', 'must not be below lock_minutes', 'range', { min }));
      }
      if (wrong.length) throw errors.validation(wrong);
      return value;
    });
  }

  /** @throws AppError 400001, 412001 */
  async updateSmtp(
    { password, password_set, confirmed, waiting, ...input }: SmtpInput,
    caller: Caller,
    seen: Conditions,
  ): Promise<SmtpView> {
    assertNoNulls('smtp', input);
    return this.update('smtp', caller, seen, { confirmed, waiting, password_set }, input, (old) => {
      const value = merged(old, input);
      const missing = value.enabled ? (['host', 'from'] as const).filter((field) => !value[field]) : [];
      const wrong = missing.map((field) => fieldError(field, 'is needed when mail is on', 'required'));
      const elsewhere =
        bareHost(value.host) !== bareHost(old.host) ||
        value.port !== old.port ||
        (value.security === 'none' && old.security !== 'none');
      if (password === undefined && old.password && elsewhere) {
        const words = 'must be sent again when host or port change, or encryption ends: others could read it there';
        wrong.push(fieldError('password', words, 'required'));
      }
      if (wrong.length) throw errors.validation(wrong);
      if (password !== undefined) value.password = password && this.sealed(password, SMTP_PASSWORD, old.password);
      return value;
    });
  }

  /** @throws AppError 412001, 400001 naming all that is wrong with each provider */
  async updateOauth(
    { confirmed, waiting, ...input }: OauthInput,
    caller: Caller,
    seen: Conditions,
  ): Promise<OauthView> {
    const told = { confirmed, waiting, providers: input.providers };
    return this.update('oauth', caller, seen, told, input, (old) => {
      const wrong: FieldError[] = [];
      const providers = input.providers?.map(
        ({ client_secret, client_secret_set: _set, confirmed: _is, ...provider }, i) => {
          wrong.push(...incomplete(provider, `providers.${i}`));
          const known = old.providers.find((p) => p.key === provider.key);
          if (client_secret === undefined && known?.client_secret && moved(known, provider)) {
            const words = 'must be sent again when the provider moves';
            wrong.push(fieldError(`providers.${i}.client_secret`, words, 'required'));
          }
          const kept = client_secret === undefined ? (known?.client_secret ?? null) : null;
          const sealed = client_secret ? this.sealed(client_secret, CLIENT_SECRET, known?.client_secret) : kept;
          return { ...provider, client_secret: sealed };
        },
      );
      if (wrong.length) throw errors.validation(wrong);
      return { enabled: input.enabled ?? old.enabled, providers: providers ?? old.providers };
    });
  }

  /** @throws AppError 412001, 400001 naming all that is wrong with each channel */
  async updateNotifications(
    { channels }: NotificationsInput,
    caller: Caller,
    seen: Conditions,
  ): Promise<NotificationsView> {
    const { outboundDeny: deny, outboundAllow: allow } = this.config;
    return this.update('notifications', caller, seen, {}, { channels }, (old) =>
      channels ? { channels: nextChannels(old.channels, channels, { box: this.box, deny, allow }) } : old,
    );
  }

  /** A channel with its secrets in plain text; undefined when there is none with this id. */
  async channel(id: string): Promise<StoredChannel | undefined> {
    const { channels } = await this.read('notifications');
    const found = channels.find((channel) => channel.id === id);
    return found && opened(found, this.box);
  }

  /** @throws AppError 400001, 412001 */
  async updateAuditRules(input: AuditRulesInput, caller: Caller, seen: Conditions): Promise<AuditRules> {
    assertNoNulls('audit-rules', input);
    return this.update('audit-rules', caller, seen, {}, input, (old) => {
      const { retention_days = old.retention_days } = input;
      if (retention_days !== old.retention_days && signedIn(caller).role < Role.Super)
        throw errors.forbidden('retention_for_super');
      return { retention_days, rules: input.rules ? rulesOf(input.rules) : old.rules };
    });
  }

  /** @throws AppError 400001, 412001 */
  async updateDoors(input: DoorsInput, caller: Caller, seen: Conditions): Promise<DoorsSettings> {
    assertNoNulls('doors', input);
    return this.update('doors', caller, seen, {}, input, (old) => merged(old, input));
  }

  /** Confirms all fields of a section that wait. */
  confirm(name: ConfirmedSection, caller: Caller, seen: Conditions): Promise<Confirmed> {
    return this.documents.change(name, async (row, manager) => {
      assertSeen(seen, viewOf(name, merged(DEFAULTS[name], row?.values ?? {}), row));
      const fields = row?.waiting ?? [];
      if (!row || !fields.length) return { confirmed: true, fields };
      await this.documents.store(name, { values: row.values }, manager);
      const [before, after] = [row, { values: row.values }].map((r) =>
        viewOf(name, merged(DEFAULTS[name], row.values), r),
      );
      const target = { type: 'settings', id: null, name };
      await this.audit.write(manager, caller, {
        action: 'settings.confirm',
        target,
        before,
        after,
      });
      return { confirmed: true, fields };
    });
  }

  /** Restores the defaults: for operators of the machine, when the settings lock everybody out. */
  resetSecurity(actor: 'system'): Promise<void> {
    return this.documents.change('security', async (row, manager) => {
      await this.documents.remove('security', manager);
      const [before, after] = [row, undefined].map((r) =>
        viewOf('security', merged(DEFAULTS.security, r?.values ?? {}), r),
      );
      const target = { type: 'settings', id: null, name: 'security' };
      await this.audit.write(manager, actor, { action: 'settings.reset', target, before, after });
    });
  }

  private plainSecret(sealed: string | null): string | null {
    return sealed && this.box.decrypt(sealed, CLIENT_SECRET);
  }

  /** Seals a secret; one that equals the stored one keeps its sealed text, so that it does not count as changed. */
  private sealed(secret: string, context: string, stored?: string | null): string {
    const kept = stored && this.box.knows(stored) && this.box.decrypt(stored, context) === secret;
    return kept ? stored : this.box.encrypt(secret, context);
  }

  /**
   * Changes and stores a document, with its confirmation.
   * @param seen what the caller says that it is
   * @param told the read-only fields that the caller sent back
   * @param input the fields that the caller names
   * @param change gets the settings that will bind super administrators, when one of them makes the change
   */
  private update<N extends DocumentName>(
    name: N,
    caller: Caller,
    seen: Conditions,
    told: SectionStatus,
    input: object,
    change: (old: Documents[N], supers: SecuritySettings | null) => Documents[N],
  ): Promise<Views[N]> {
    const { role } = signedIn(caller);
    return this.documents.change(name, async (row, manager) => {
      const old = merged(DEFAULTS[name], row?.values ?? {});
      const before = viewOf(name, old, row);
      assertSeen(seen, before);
      assertStatusUnchanged(told, before);
      const isSuper = name === 'security' && role >= Role.Super;
      const supers = isSuper ? merged(DEFAULTS.security, merged(row?.super ?? {}, input)) : null;
      const value = change(old, supers);
      const next: Row = {
        values: value as unknown as Row['values'],
        ...confirmation(name, row, { old, value }, role, namedBy(name, input)),
      };
      if (name === 'security') next.super = (supers ?? row?.super ?? {}) as Record<string, unknown>;
      const after = viewOf(name, value, next);
      // saving equal values may still confirm them, so the rows are compared, not the values
      if (row ? same(row, next) : same(before, after)) {
        this.audit.notNeeded(caller);
        return after;
      }
      await this.documents.store(name, next, manager);
      const target = { type: 'settings', id: null, name };
      const states = { before, after: viewOf(name, value, next, old) };
      await this.audit.write(manager, caller, { action: 'settings.update', target, ...states });
      return after;
    });
  }
}
