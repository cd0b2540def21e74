import { Injectable } from '@nestjs/common';
import { hasScope, type Principal, Role, type Scope } from '../../access/access.js';
import { DnsAccountsRepository, type Trouble } from '../../accounts/dns-accounts.repository.js';
import { ListedChangeSetsRepository } from '../../changes/history/listed-change-sets.repository.js';
import { toUnicode } from '../../dns/names.js';
import { type DomainAccess, READ } from '../../domains/access-rights.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import { DomainSummariesRepository } from '../../domains/domain-summaries.repository.js';
import type { Reader } from '../../domains/readable-domains.repository.js';
import { shownName } from '../../domains/zone-identity.js';
import { DelegationsRepository } from '../../monitoring/delegation/delegations.repository.js';
import { CertificatesRepository } from '../../monitoring/expiry/certificates.repository.js';
import { maySeeHost } from '../../monitoring/expiry/certificates.service.js';
import { inWords } from '../../monitoring/expiry/reminders.service.js';
import { maySeeRule } from '../../monitoring/failover/failover.service.js';
import { FailoverRulesRepository } from '../../monitoring/failover/failover-rules.repository.js';
import { nameOf } from '../../monitoring/failover/rule.js';
import { now } from '../../platform/common/clock.js';
import { due, turn } from '../../platform/common/turns.js';
import type { Counted } from '../../platform/database/lists.js';
import { JobReader } from '../../platform/jobs/job-reader.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import { ATTENTION_KINDS, type AttentionItem, type AttentionKind, type DashboardView } from './dashboard.dto.js';

const DAY_MS = 86_400_000;
/** days before the end of a registration, where the settings name none */
const NOTICE_DAYS = 30;
/** what ends within so many days is critical */
const CRITICAL_DAYS = 7;
/** rows that are judged at once, for tokens with rules, and in all */
const BATCH = 500;
const MOST_JUDGED = 5_000;
/** characters of what went wrong */
const MAX_WORDS = 300;
const WORST = ['critical', 'warning', 'hint'];

type Found = Counted<AttentionItem>;

/** What is looked for. */
interface Asked {
  me: Principal;
  reader: Reader;
  limit: number;
  /** of the settings */
  days: readonly number[];
  zone: string;
}

const mayRead = ({ token }: Principal, scope: Scope) => !token || hasScope(token.allowedServices, scope);
/** Whether somebody may use the routes of the installation. */
const isWhole = ({ role, token }: Principal) => role >= Role.Admin && !token?.allowedDomains && !token?.rules;
/** Whether somebody may list the accounts. */
export const mayListAccounts = (me: Principal): boolean => isWhole(me) && mayRead(me, 'accounts:read');

const NOWHERE = { domain_id: null, domain: null, account_id: null, rule_id: null, change_set_id: null, job_id: null };
const item = (
  kind: AttentionKind,
  given: Partial<AttentionItem> & Pick<AttentionItem, 'severity' | 'text' | 'href'>,
): AttentionItem => ({ kind, ...NOWHERE, since: null, ends_at: null, ...given });
const map = <T>({ rows, total }: Counted<T>, view: (row: T) => AttentionItem): Found => ({
  rows: rows.map(view),
  total,
});
const cut = (words: string) => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words).toWellFormed();
const soon = (end: string) => (end < now(CRITICAL_DAYS * DAY_MS) ? 'critical' : 'warning');

/** What needs attention, of all that somebody may read. Each kind is a list of the room that knows of it. */
@Injectable()
export class AttentionService {
  /** each finds one kind; null: the caller may not see it */
  private readonly sources: Record<AttentionKind, (asked: Asked) => Promise<Found | null>> = {
    registration_ending: (asked) => this.registrations(asked),
    certificate_ending: (asked) => this.certificates(asked),
    delegation_broken: (asked) => this.delegations(asked),
    domain_missing: (asked) => this.missing(asked),
    sync_failed: (asked) => this.accountsWith('sync_failed', asked),
    account_paused: (asked) => this.accountsWith('paused', asked),
    account_held: (asked) => this.accountsWith('held', asked),
    failover_held: (asked) => this.rules('held', asked),
    failover_backup: (asked) => this.rules('backup', asked),
    change_in_doubt: (asked) => this.changes('unknown', asked),
    change_held: (asked) => this.changes('held', asked),
    job_failing: (asked) => this.failingJobs(asked),
  };

  constructor(
    private readonly policy: DomainPolicy,
    private readonly settings: SettingsService,
    private readonly domains: DomainSummariesRepository,
    private readonly accounts: DnsAccountsRepository,
    private readonly certificateRows: CertificatesRepository,
    private readonly delegationRows: DelegationsRepository,
    private readonly ruleRows: FailoverRulesRepository,
    private readonly sets: ListedChangeSetsRepository,
    private readonly jobs: JobReader,
  ) {}

  /** @param limit entries of each kind */
  async find(me: Principal, limit: number): Promise<DashboardView['attention']> {
    const { expiry_notice_days: days, timezone: zone } = await this.settings.read('general');
    const asked = { me, reader: this.policy.reader(me), limit, days, zone };
    const totals: Partial<Record<AttentionKind, number | null>> = {};
    const list: AttentionItem[] = [];
    // one after the other: a page must not take all connections of the pool
    for (const kind of ATTENTION_KINDS) {
      const found = await this.sources[kind](asked);
      totals[kind] = found?.total ?? null;
      list.push(...(found?.rows ?? []));
    }
    list.sort((a, b) => WORST.indexOf(a.severity) - WORST.indexOf(b.severity));
    return { totals: totals as DashboardView['attention']['totals'], list };
  }

  private async registrations({ reader, limit, days, zone }: Asked): Promise<Found> {
    const before = now((days.length ? Math.max(...days) : NOTICE_DAYS) * DAY_MS);
    return map(await this.domains.ending(reader, before, limit), ({ id, name, expires_at }) => {
      const end = expires_at as string;
      const text = `The registration of ${toUnicode(name)} ${inWords(end, zone)}`;
      const target = { domain_id: id, domain: name, ends_at: end };
      return item('registration_ending', { ...target, severity: soon(end), text, href: `/api/domains/${id}` });
    });
  }

  private async certificates({ me, reader, limit, zone }: Asked): Promise<Found> {
    const access = ofToken(me);
    const found = await judged(
      limit,
      (most, skip) => this.certificateRows.late(reader, most, skip),
      access && ((row) => maySeeHost(access, { id: row.domain_id, name: row.domain }, row.host)),
    );
    return map(found, ({ host, domain_id, domain, valid_to }) =>
      item('certificate_ending', {
        domain_id,
        domain,
        severity: valid_to < now(2 * DAY_MS) ? 'critical' : 'warning',
        ends_at: valid_to,
        text: `The certificate of ${toUnicode(host)} ${inWords(valid_to, zone)}`,
        href: `/api/domains/${domain_id}/certificates`,
      }),
    );
  }

  private async delegations({ reader, limit }: Asked): Promise<Found> {
    return map(await this.delegationRows.broken(reader, limit), ({ domain_id, domain, broken }) => {
      const text = `The delegation of ${toUnicode(domain)} is broken: ${broken.join(', ')}`;
      const href = `/api/domains/${domain_id}/health`;
      return item('delegation_broken', { domain_id, domain, severity: 'critical', text, href });
    });
  }

  private async missing({ reader, limit }: Asked): Promise<Found> {
    return map(await this.domains.missing(reader, limit), ({ id, ...row }) => {
      const text = `The provider of ${shownName({ ...row, name: toUnicode(row.name) })} does not list it any more`;
      const target = { domain_id: id, domain: shownName(row) };
      return item('domain_missing', { ...target, severity: 'critical', text, href: `/api/domains/${id}` });
    });
  }

  /** Who may not list accounts sees those that domains of theirs are in, without what went wrong. */
  private async accountsWith(trouble: Trouble, { me, reader, limit }: Asked): Promise<Found | null> {
    const kind = trouble === 'sync_failed' ? trouble : (`account_${trouble}` as const);
    const does = {
      sync_failed: 'could not be synchronised',
      paused: 'is paused',
      held: 'is not synchronised by itself',
    };
    const severity = trouble === 'paused' ? 'hint' : 'warning';
    if (mayListAccounts(me))
      return map(await this.accounts.troubled(trouble, now(), limit), ({ id, name, ...row }) => {
        const words = { sync_failed: row.last_error, paused: row.pause_reason, held: row.hold_reason }[trouble];
        const text = cut(`The account ${name} ${does[trouble]}${words ? `: ${words}` : ''}`);
        const since = trouble === 'sync_failed' ? row.last_sync_at : null;
        const ends_at = trouble === 'paused' ? row.paused_until : null;
        return item(kind, { account_id: id, severity, since, ends_at, text, href: `/api/accounts/${id}` });
      });
    if (trouble === 'held') return null;
    const found = await this.domains.accounts(reader, trouble === 'paused' ? now() : null, limit);
    return map(found, ({ id, name, domains }) => {
      const text = `The account ${name}, of ${domains} domains here, ${does[trouble]}`;
      return item(kind, { account_id: id, severity, text, href: `/api/domains?account_id=${id}` });
    });
  }

  private async rules(why: 'held' | 'backup', { me, reader, limit }: Asked): Promise<Found | null> {
    if (!mayRead(me, 'records:read')) return null;
    const access = ofToken(me);
    const found = await judged(
      limit,
      (most, skip) => this.ruleRows.noted(reader, why, most, skip),
      access && ((rule) => maySeeRule(access, rule.domain_id, rule)),
    );
    return map(found, (rule) => {
      const { id, domain_id, domain, apart, switched_at, hold_reason } = rule;
      // why it is on hold may name values that a token with rules may not read
      const words = access || !hold_reason ? '' : `: ${hold_reason}`;
      const state = why === 'held' ? `is on hold${words}` : 'serves its backup values';
      return item(`failover_${why}`, {
        domain_id,
        domain: shownName({ name: domain, apart }),
        rule_id: id,
        // what somebody holds by hand is meant so
        severity: why === 'held' && !hold_reason ? 'hint' : 'warning',
        since: why === 'backup' ? switched_at : null,
        text: cut(`Failover of ${nameOf(rule)} ${state}`),
        href: `/api/domains/${domain_id}/failover`,
      });
    });
  }

  private async changes(why: 'unknown' | 'held', { me, reader, limit }: Asked): Promise<Found | null> {
    if (!mayRead(me, 'records:read')) return null;
    return map(await this.sets.waiting(reader, why, limit), ({ id, domain_id, zone, apart, changes, created_at }) => {
      const domain = shownName({ name: zone, apart });
      const state = why === 'held' ? 'is held and waits for a confirmation' : 'is in doubt';
      return item(why === 'held' ? 'change_held' : 'change_in_doubt', {
        domain_id,
        domain,
        change_set_id: id,
        severity: 'warning',
        since: created_at,
        text: `A list of ${changes} changes of ${domain} ${state}`,
        href: `/api/domains/${domain_id}/changes/${id}`,
      });
    });
  }

  private async failingJobs({ me, limit }: Asked): Promise<Found | null> {
    // as `GET /api/system/jobs`
    if (me.role < Role.Super || !isWhole(me) || !mayRead(me, '*')) return null;
    const { total, list } = await this.jobs.list({ failing: true, page: 1, limit });
    const view = (job: (typeof list)[number]) => {
      const text = cut(`The job ${job.subject ?? job.name} fails${job.last_error ? `: ${job.last_error}` : ''}`);
      const since = job.ended_at ?? job.last_run_at;
      return item('job_failing', {
        job_id: job.id,
        severity: 'warning',
        since,
        text,
        href: `/api/system/jobs/${job.id}`,
      });
    };
    return map({ rows: list, total }, view);
  }
}

/** What the rules of a token leave in a domain that may be read; null: there are no rules. */
function ofToken({ token }: Principal): DomainAccess | null {
  return token?.rules ? { level: READ, hosts: [], rules: token.rules } : null;
}

/**
 * The first rows that may be seen, and how many there are, with rules of the first 5 000.
 * @param may null: all of them
 */
async function judged<T>(
  limit: number,
  read: (most: number, skip: number) => Promise<Counted<T>>,
  may: ((row: T) => boolean) | null,
): Promise<Counted<T>> {
  if (!may) return read(limit, 0);
  const seen: Counted<T> = { rows: [], total: 0 };
  for (let skip = 0; skip < MOST_JUDGED; skip += BATCH) {
    const { rows } = await read(BATCH, skip);
    for (const row of rows) {
      if (due()) await turn();
      if (!may(row)) continue;
      if (seen.total++ < limit) seen.rows.push(row);
    }
    if (rows.length < BATCH) break;
  }
  return seen;
}
