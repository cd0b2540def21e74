import { Injectable, type OnModuleInit } from '@nestjs/common';
import { toUnicode } from '../../dns/names.js';
import { DomainEndsRepository, type Ending } from '../../domains/domain-ends.repository.js';
import { Notices } from '../../notifications/notices.service.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { dayOf } from '../../platform/common/time-zone.js';
import { Db } from '../../platform/database/db.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { SettingsService } from '../../settings/settings.service.js';
import { CertificatesRepository, type EndingCertificate } from './certificates.repository.js';
import { Registrations } from './registrations.service.js';

const DAY_MS = 24 * 3_600_000;
const TICK_MS = 15 * 60_000;
/** reminders of one tick, the nearest ends first, so that other notices get through between them */
const MOST = 20;
/** ends that differ by less are the same one: RDAP and WHOIS, or two time zones, may differ */
const SAME_MS = 3 * DAY_MS;
/** of a certificate's life: automatic renewal happens when a third is left, and has some days to succeed */
const LATE = 0.3;

/** Reminds of registrations and certificates that end soon, once for each end and each day of the settings. */
@Injectable()
export class Reminders implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly settings: SettingsService,
    private readonly notices: Notices,
    private readonly ends: DomainEndsRepository,
    private readonly registrations: Registrations,
    private readonly certificates: CertificatesRepository,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('expiry.reminders', TICK_MS, () => this.tick());
  }

  /** Looks at all ends. As long as no channel wants such reminders, none counts as sent. */
  async tick(): Promise<void> {
    if (!(await this.notices.heard('domain.expiring'))) return;
    const { expiry_notice_days: days, timezone } = await this.settings.read('general');
    if (!days.length) return;
    const before = now(Math.max(...days) * DAY_MS);
    let left = MOST;
    for (const group of this.groups(await this.ends.ending(before))) {
      if (left > 0 && (await this.tellRegistration(group, days, timezone))) left--;
    }
    for (const shown of await this.certificates.endingBefore(before)) {
      if (left > 0 && (await this.tellCertificate(shown, days, timezone))) left--;
    }
  }

  /** Domains of one registration with one end, which share a reminder. */
  private groups(list: readonly Ending[]): Ending[][] {
    const groups = new Map<string, Ending[]>();
    for (const ending of list) {
      const key = `${this.registrations.registrable(ending.name) ?? ending.name} ${ending.expires_at}`;
      groups.set(key, [...(groups.get(key) ?? []), ending]);
    }
    return [...groups.values()];
  }

  private async tellRegistration(group: readonly Ending[], days: readonly number[], zone: string): Promise<boolean> {
    const [first] = group;
    if (!first) return false;
    const told = group
      .filter(({ expiry_told_for: end }) => end && Math.abs(Date.parse(end) - Date.parse(first.expires_at)) < SAME_MS)
      .map(({ expiry_told_days }) => Number(expiry_told_days));
    const due = reached(first.expires_at, days);
    if (due === null || Math.min(...told) <= due) return false;
    const name = this.registrations.registrable(first.name) ?? first.name;
    return this.db.transaction(async (manager) => {
      if (!(await this.ends.told(manager, group, due))) return false;
      await this.notices.tell(manager, {
        event: 'domain.expiring',
        text: `The registration of ${toUnicode(name)} ${inWords(first.expires_at, zone)}`,
        domain: group.find((one) => one.name === name)?.name ?? first.name,
        details: { what: 'registration', name, expires_at: first.expires_at, source: first.expires_source },
      });
      return true;
    });
  }

  private async tellCertificate(shown: EndingCertificate, days: readonly number[], zone: string): Promise<boolean> {
    const { host, domain, valid_from, valid_to, issuer, told_for, told_days } = shown;
    const life = (Date.parse(valid_to) - Date.parse(valid_from)) / DAY_MS;
    const first = Math.min(life * LATE, Math.max(...days));
    // whole days, as they are stored
    const due = reached(valid_to, [Math.ceil(first), ...days.filter((day) => day < first)], first);
    if (due === null || (told_for === valid_to && Number(told_days) <= due)) return false;
    return this.db.transaction(async (manager) => {
      if (!(await this.certificates.noteReminder(manager, shown, due))) return false;
      await this.notices.tell(manager, {
        event: 'domain.expiring',
        text: `The certificate of ${toUnicode(host)} ${inWords(valid_to, zone)}`,
        domain,
        details: { what: 'certificate', name: host, expires_at: valid_to, issuer },
      });
      return true;
    });
  }
}

/**
 * The smallest of these numbers of days that are left at most; null when more are left.
 * @param most nothing is due before so many days
 */
function reached(end: string, days: readonly number[], most = Number.POSITIVE_INFINITY): number | null {
  const left = (Date.parse(end) - timeMs()) / DAY_MS;
  const due = days.filter((day) => left <= day);
  return due.length && left <= most ? Math.min(...due) : null;
}

/** When something ends, by the calendar of a time zone, so that the number of days and the date agree. */
export function inWords(end: string, zone: string): string {
  const day = dayOf(Date.parse(end), zone);
  if (end <= now()) return `has ended on ${day}`;
  const days = (Date.parse(day) - Date.parse(dayOf(timeMs(), zone))) / DAY_MS;
  return `ends ${['today', 'tomorrow'][days] ?? `in ${days} days`}, on ${day}`;
}
