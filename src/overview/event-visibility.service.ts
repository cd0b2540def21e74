import { Injectable } from '@nestjs/common';
import { hasScope, type Principal, Role } from '../access/access.js';
import { DomainsService } from '../domains/domains.service.js';
import { TeamsService } from '../teams/teams.service.js';
import type { LoggedEvent } from './event.entity.js';
import type { StreamEvent } from './stream.dto.js';

/** The scope that an API token needs for an event: that of the route which shows the same. */
const SCOPE: Partial<Record<StreamEvent, string | null>> = {
  'records.changed': 'records:read',
  'records.synced': 'records:read',
  'domain.created': 'domains:read',
  'domain.removed': 'domains:read',
  'failover.switched': 'records:read',
  'account.synced': 'accounts:read',
  reset: null,
};

const scopeOf = ({ type, data }: LoggedEvent): string | null => {
  if ((data as { name?: string }).name === 'account.sync') return 'accounts:read';
  const scope = SCOPE[type];
  return scope === undefined ? '*' : scope;
};

/** Which events a caller may see. */
@Injectable()
export class EventVisibility {
  constructor(
    private readonly domains: DomainsService,
    private readonly teams: TeamsService,
  ) {}

  /** The events that the caller's current rights allow, in their order. */
  async visibleTo(me: Principal, events: readonly LoggedEvent[]): Promise<LoggedEvent[]> {
    const mine = events.filter((event) => !me.token || hasScope(me.token.allowedServices, scopeOf(event)));
    const ids = [...new Set(mine.flatMap((event) => (event.readers ? [] : (event.domain_id ?? []))))];
    const readable = ids.length ? await this.domains.readableIds(me, ids) : new Set();
    const gone = me.role < Role.Admin && mine.some(({ readers }) => readers?.teams.length);
    const teams = gone ? await this.teams.idsOf(me.userId) : new Set<number>();
    const restricted = Boolean(me.token?.allowedDomains || me.token?.rules);
    return mine.filter(({ type, domain_id, readers, data }) => {
      // a token that is restricted to domains has lost a removed domain before this event is sent
      if (readers)
        return (
          !restricted &&
          (me.role >= Role.Admin || readers.owner === me.userId || readers.teams.some((team) => teams.has(team)))
        );
      if (type === 'reset') return true;
      // the event may concern values that such a token may not read
      if (type === 'failover.switched' && me.token?.rules) return false;
      if (domain_id !== null) return readable.has(domain_id);
      if (type === 'settings.changed' && (data as { section: string }).section === 'general') return !restricted;
      return me.role >= Role.Admin && !restricted;
    });
  }
}
