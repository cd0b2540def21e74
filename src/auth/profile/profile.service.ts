import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { Mailer } from '../../notifications/mailer.service.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { assertUnchanged, same } from '../../platform/common/read-only.js';
import { Db, isDuplicate } from '../../platform/database/db.js';
import { type LimitRule, LimitsService } from '../../platform/limits/limits.service.js';
import type { User } from '../../users/user.entity.js';
import { UsersRepository } from '../../users/users.repository.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { ProfileInput, ProfileView } from './profile.dto.js';

const CODE_MINUTES = 10;
const CODE_TRIES = 5;
/** codes that are mailed for one user, to any addresses */
const CODE_MAILS: LimitRule = { max: 10, windowS: 3600, blockS: 3600, maxBlockS: 3600 };

/** What users see of their own profile. */
export const profileView = (user: User): ProfileView => ({
  nickname: user.nickname,
  email: user.email,
  email_verified: Boolean(user.email_verified),
  language: user.language,
  theme: user.theme ?? 'auto',
  timezone: user.timezone,
});

/** The profile of a user. A new address is verified with a mailed code. */
@Injectable()
export class ProfileService {
  constructor(
    private readonly db: Db,
    private readonly users: UsersRepository,
    private readonly challenges: ChallengesService,
    private readonly limits: LimitsService,
    private readonly sessions: SessionsService,
    private readonly mailer: Mailer,
    private readonly audit: AuditService,
  ) {}

  async get(caller: Caller): Promise<ProfileView> {
    return profileView(await this.user(caller));
  }

  /** @throws AppError 400001 wrong or missing code, 409001 somebody else's address */
  async update(input: ProfileInput, caller: Caller): Promise<ProfileView> {
    const { email, email_code, nickname, language, theme, timezone } = input;
    const user = await this.user(caller);
    assertUnchanged(input, profileView(user));
    const key = email?.toLowerCase() ?? null;
    const changes: Partial<User> = Object.fromEntries(
      Object.entries({ nickname, language, theme, timezone }).filter(([, value]) => value !== undefined),
    );
    if (email === null) Object.assign(changes, { email: null, email_key: null, email_verified: false });
    else if (email !== undefined && (key !== user.email_key || email_code !== undefined)) {
      // the owner of that mailbox can reset the password
      await this.sessions.assertFresh(caller, 'fresh_for_email');
      await this.assertCode(user.id, key as string, email_code);
      Object.assign(changes, { email, email_key: key, email_verified: true });
    }
    const after = { ...user, ...changes };
    if (same(profileView(user), profileView(after)) && email_code === undefined) {
      this.audit.notNeeded(caller);
      return profileView(user);
    }
    try {
      await this.db.transaction(async (manager) => {
        if (Object.keys(changes).length) await this.users.update(user.id, changes, manager);
        if (changes.email_key !== undefined) {
          await this.challenges.drop('email-code', user.id, manager);
          // a link that was mailed to the old address becomes invalid
          if (changes.email_key !== user.email_key) await this.challenges.drop('reset', user.id, manager);
        }
        await this.audit.write(manager, caller, {
          action: 'profile.update',
          target: { type: 'user', id: user.id, name: user.username },
          before: profileView(user),
          after: profileView(after),
        });
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.taken('email', 'email_taken');
      throw error;
    }
    return profileView(after);
  }

  /** Mails a code of six digits. @throws AppError 429, 501001 when no mail server is set up */
  async sendCode(email: string, caller: Caller): Promise<void> {
    const user = await this.user(caller);
    if (!(await this.mailer.enabled('code'))) throw errors.unsupported('no_mail_server');
    const wait = await this.limits.hit({ kind: 'email-code', network: 'mail', username: `#${user.id}` }, CODE_MAILS);
    if (wait) throw errors.tooMany('codes_mailed', wait);
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    await this.db.transaction(async (manager) => {
      const content = { email: email.toLowerCase(), code: sha256(code) };
      const mine = { userId: user.id, key: String(user.id), manager };
      await this.challenges.open('email-code', CODE_MINUTES, content, mine);
      await this.mailer.queue(manager, email, 'code', user, { code, minutes: CODE_MINUTES });
      const target = { type: 'user', id: user.id, name: user.username };
      await this.audit.write(manager, caller, { action: 'profile.email_code', target, after: { email } });
    });
  }

  private async assertCode(userId: number, email: string, code: string | undefined): Promise<void> {
    if (!code) throw errors.field('email_code', 'is needed for another address: POST /api/security/email-code');
    const content = await this.challenges.try<{ email: string; code: string }>(
      'email-code',
      String(userId),
      CODE_TRIES,
    );
    if (content?.email !== email || content.code !== sha256(code.trim()))
      throw errors.field('email_code', 'is wrong, too old, for another address, or was tried too often');
  }

  private user(caller: Caller): Promise<User> {
    return this.users.get(signedIn(caller).userId);
  }
}
