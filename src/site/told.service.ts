import { Injectable } from '@nestjs/common';
import { hasScope, type Principal, Role } from '../common/access.js';
import { DomainsService } from '../domains/domains.service.js';
import { TeamsService } from '../teams/teams.service.js';
import type { LoggedEvent } from './event.entity.js';
import type { StreamEvent } from './stream.dto.js';

/** The scope that an API token needs for an event: that of the route which tells the same. */
const SCOPE: Record<StreamEvent, string | null> = {
  'records.changed': 'records:read',
  'records.synced': 'records:read',
  'domain.created': 'domains:read',
  'domain.removed': 'domains:read',
  'account.synced': 'accounts:read',
  'settings.changed': '*',
  reset: null,
};

/** Which events somebody may know of. */
@Injectable()
export class Told {
  constructor(
    private readonly domains: DomainsService,
    private readonly teams: TeamsService,
  ) {}

  /** Those that the rights of this moment show, in their order. */
  async of(me: Principal, events: readonly LoggedEvent[]): Promise<LoggedEvent[]> {
    const mine = events.filter(({ type }) => !me.token || hasScope(me.token.allowedServices, SCOPE[type]));
    const ids = [...new Set(mine.flatMap((event) => (event.readers ? [] : (event.domain_id ?? []))))];
    const readable = ids.length ? await this.domains.readableIds(me, ids) : new Set();
    const gone = me.role < Role.Admin && mine.some(({ readers }) => readers?.teams.length);
    const teams = gone ? await this.teams.idsOf(me.userId) : new Set<number>();
    const narrowed = Boolean(me.token?.allowedDomains || me.token?.rules);
    return mine.filter(({ type, domain_id, readers, data }) => {
      // a token that is narrowed to domains loses them before this can be told
      if (readers)
        return (
          !narrowed &&
          (me.role >= Role.Admin || readers.owner === me.userId || readers.teams.some((team) => teams.has(team)))
        );
      if (type === 'reset') return true;
      if (domain_id !== null) return readable.has(domain_id);
      if (type === 'settings.changed' && (data as { section: string }).section === 'general') return !narrowed;
      return me.role >= Role.Admin && !narrowed;
    });
  }
}
