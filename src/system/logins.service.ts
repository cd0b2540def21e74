import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { AuditReader } from '../audit/audit-reader.service.js';
import { networkOf } from '../platform/common/cidr.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { Db } from '../platform/database/db.js';
import { LimitsService } from '../platform/limits/limits.service.js';
import { SettingsService } from '../settings/settings.service.js';
import type { LoginCounts, LoginStats } from './system.dto.js';

const DAY_MS = 86_400_000;
const DAYS = 30;
const TOP = 10;

/** Logins of the installation: statistics from the audit log, and locks. */
@Injectable()
export class LoginsService {
  constructor(
    private readonly db: Db,
    private readonly log: AuditReader,
    private readonly audit: AuditService,
    private readonly limits: LimitsService,
    private readonly settings: SettingsService,
  ) {}

  async stats(): Promise<LoginStats> {
    const { timezone } = await this.settings.read('general');
    const dayOf = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    const days = new Map<string, LoginCounts>();
    for (const { hour, action, count } of await this.log.loginsByHour(now(-DAYS * DAY_MS))) {
      const day = dayOf.format(new Date(`${hour}:00:00Z`));
      const counts = days.get(day) ?? { ok: 0, failed: 0 };
      counts[action === 'auth.login' ? 'ok' : 'failed'] += count;
      days.set(day, counts);
    }
    const last_24h = { ok: 0, failed: 0 };
    const networks = new Map<string, number>();
    for (const { ip, action, count } of await this.log.loginsByAddress(now(-DAY_MS))) {
      last_24h[action === 'auth.login' ? 'ok' : 'failed'] += count;
      const network = networkOf(ip);
      if (action !== 'auth.login') networks.set(network, (networks.get(network) ?? 0) + count);
    }
    return {
      last_24h,
      by_day: [...days].map(([day, counts]) => ({ day, ...counts })).sort((a, b) => (a.day < b.day ? 1 : -1)),
      locked: await this.limits.locks(),
      top_networks: [...networks]
        .map(([network, failed]) => ({ network, failed }))
        .sort((a, b) => b.failed - a.failed)
        .slice(0, TOP),
    };
  }

  /** @throws AppError 404001 when nothing is locked */
  async unlock(username: string, actor: Caller | 'system'): Promise<number> {
    const name = username.trim().toLowerCase();
    return this.db.transaction(async (manager) => {
      const unlocked = await this.limits.unlock(name, manager);
      if (!unlocked) throw errors.notFound('lock', { name });
      const target = { type: 'user', id: null, name };
      await this.audit.write(manager, actor, { action: 'auth.unlock', target, after: { unlocked } });
      return unlocked;
    });
  }
}
