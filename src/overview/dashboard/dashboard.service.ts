import { Injectable } from '@nestjs/common';
import { hasScope, type Principal } from '../../access/access.js';
import { DnsAccountsRepository } from '../../accounts/dns-accounts.repository.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import {
  DOMAIN_STATES,
  type DomainGroup,
  DomainSummariesRepository,
} from '../../domains/domain-summaries.repository.js';
import { now } from '../../platform/common/clock.js';
import { ChangeReader } from '../../records/history/change-reader.service.js';
import { AttentionService, mayListAccounts } from './attention.service.js';
import type { DashboardView } from './dashboard.dto.js';

const sum = (groups: readonly DomainGroup[], of: 'domains' | 'records') =>
  groups.reduce((all, group) => all + group[of], 0);

/** What a page shows first to somebody who has signed in. */
@Injectable()
export class DashboardService {
  constructor(
    private readonly policy: DomainPolicy,
    private readonly domains: DomainSummariesRepository,
    private readonly accounts: DnsAccountsRepository,
    private readonly changes: ChangeReader,
    private readonly attention: AttentionService,
  ) {}

  /** The overview of all that somebody may read. @param limit entries of each list */
  async show(me: Principal, limit: number): Promise<DashboardView> {
    const records = !me.token || hasScope(me.token.allowedServices, 'records:read');
    const [groups, accounts, attention, changes] = await Promise.all([
      this.domains.groups(this.policy.reader(me), now()),
      mayListAccounts(me) ? this.accounts.countByProvider() : null,
      this.attention.find(me, limit),
      records ? this.changes.newestAll(me, limit) : null,
    ]);
    const states = DOMAIN_STATES.map((state) => [
      state,
      sum(
        groups.filter((one) => one.state === state),
        'domains',
      ),
    ]);
    return {
      counts: countsOf(groups, accounts, !me.token?.rules),
      domains: Object.fromEntries(states) as unknown as DashboardView['domains'],
      attention,
      changes,
    };
  }
}

/** @param whole whether every record of the domains may be read */
function countsOf(
  groups: readonly DomainGroup[],
  accounts: ReadonlyMap<string, number> | null,
  whole: boolean,
): DashboardView['counts'] {
  const kinds = [...new Set([...groups.map(({ provider }) => provider), ...(accounts?.keys() ?? [])])].sort();
  const of = (some: readonly DomainGroup[]) => ({
    domains: sum(some, 'domains'),
    records: whole ? sum(some, 'records') : null,
  });
  return {
    ...of(groups),
    accounts: accounts && [...accounts.values()].reduce((all, n) => all + n, 0),
    by_provider: kinds.map((provider) => ({
      provider,
      accounts: accounts && (accounts.get(provider) ?? 0),
      ...of(groups.filter((group) => group.provider === provider)),
    })),
  };
}
