import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, Role } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors, type FieldError } from '../common/errors.js';
import { Db } from '../database/db.js';
import { hashPassword, passwordProblem } from './passwords.js';
import { SigningKey } from './signing-key.js';
import { User } from './user.entity.js';

export interface NewUser {
  username: string;
  password: string;
  email?: string | null;
  nickname?: string | null;
}

@Injectable()
export class UsersService {
  constructor(
    private readonly db: Db,
    private readonly key: SigningKey,
    private readonly audit: AuditService,
  ) {}

  /** What is wrong with a new user's fields; an empty list when nothing is. */
  problems({ username, password, email, nickname }: NewUser): FieldError[] {
    const list: FieldError[] = [];
    if (!/^[\p{L}\p{N}._@+-]{1,64}$/u.test(username)) {
      list.push({ path: 'username', message: 'must be 1 to 64 letters, digits or . _ @ + -' });
    }
    const weak = passwordProblem(password, [username, email ?? '', nickname ?? '']);
    if (weak) list.push({ path: 'password', message: weak });
    if (email && !/^[^\s@<>"]{1,64}@[^\s@<>"]+\.[^\s@<>"]+$/.test(email)) {
      list.push({ path: 'email', message: 'must be an e-mail address' });
    }
    return list;
  }

  /**
   * The first super administrator, and the signing secret. Check and insert are one transaction: of two parallel calls one gets 403.
   * @throws AppError 400001, 403001
   */
  async createFirst(input: NewUser, caller: Caller | 'system'): Promise<void> {
    const problems = this.problems(input);
    if (problems.length) throw errors.validation(problems);
    const username = input.username.trim();
    const email = input.email?.trim() || null;
    const password_hash = await hashPassword(input.password);
    await this.db.transaction(async (manager) => {
      // locks: the row of the chain is the one that all transactions of this kind touch
      await this.db.run('UPDATE audit_chain SET seq = seq WHERE id = 1', [], manager);
      if (await this.db.row('SELECT id FROM users LIMIT 1', [], manager)) throw errors.forbidden('Already initialised');
      const inserted = await manager.insert(User, {
        username,
        username_key: username.toLowerCase(),
        nickname: input.nickname?.trim() || username,
        email,
        email_key: email?.toLowerCase() ?? null,
        password_hash,
        role: Role.Super,
        status: 1,
        language: 'en',
        totp_enabled: false,
        created_at: now(),
        last_login_at: null,
      });
      await this.key.create(manager);
      const target = { type: 'user', id: Number(inserted.identifiers[0]?.id), name: username };
      await this.audit.write(manager, caller, {
        action: 'init.admin',
        target,
        after: { username, email, role: Role.Super },
      });
    });
  }
}
