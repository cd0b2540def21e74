import { Injectable } from '@nestjs/common';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { Db } from '../../platform/database/db.js';
import { DelegationsRepository, type StoredDelegation } from './delegations.repository.js';
import type { Delegation } from './finder.service.js';

const HOUR_MS = 3_600_000;
const EVERY_MS = 6 * HOUR_MS;
/** for so long a change of name servers is reported as an issue */
const NEWS_MS = 7 * 24 * HOUR_MS;

const same = (a: readonly string[], b: readonly string[]) => a.join('\n') === b.join('\n');

const NOTHING: StoredDelegation = { names: null, names_before: null, ds: null, changed_at: null, broken: null };

/** The last known answer where the new one differs; else null. */
const replaced = (known: string[] | null, told: string[] | null): string[] | null =>
  known && told && !same(known, told) ? known : null;

/** The delegations of our zones as of the last check; changes are notified of. */
@Injectable()
export class KnownDelegations {
  constructor(
    private readonly db: Db,
    private readonly delegations: DelegationsRepository,
    private readonly notices: Notices,
  ) {}

  /** Name servers that the zone above had until a recent change; null without one. */
  async before(domainId: number, { found, names }: Delegation): Promise<string[] | null> {
    const known = await this.delegations.find(domainId);
    if (found !== 'parent' || !known?.names) return null;
    if (!same(known.names, names)) return known.names;
    return known.names_before && (known.changed_at as string) > now(-NEWS_MS) ? known.names_before : null;
  }

  /** Whether the zone above answers something else than at the last check. */
  async differs(domainId: number, { found, names, ds }: Delegation): Promise<boolean> {
    const known = await this.delegations.find(domainId);
    if (found !== 'parent' || !known?.names) return false;
    return !same(known.names, names) || Boolean(ds && known.ds && !same(known.ds, ds));
  }

  /** Of what is critical now, what was not at the last check; not what was so from the beginning. */
  async fresh(domainId: number, broken: ReadonlyMap<string, string>): Promise<Map<string, string>> {
    const known = await this.delegations.find(domainId);
    const isNews = (code: string) => !known?.broken?.includes(code) && (code !== 'not_delegated' || known?.names);
    return new Map([...broken].filter(([code]) => isNews(code)));
  }

  /** Nothing could be found out: the next check comes soon. */
  async later(domainId: number): Promise<void> {
    await this.delegations.postpone(domainId, now(HOUR_MS * (1 + Math.random())));
  }

  /**
   * Stores what was found, and notifies of what changed since the last time, and of what broke.
   * @param broken codes of all that is critical
   * @param fresh what of it is notified of, code to text
   */
  async keep(
    domain: { id: number; name: string },
    { found, names, ds, parent }: Delegation,
    broken: readonly string[],
    fresh: ReadonlyMap<string, string>,
  ): Promise<void> {
    await this.db.transaction(async (manager) => {
      await this.delegations.lock(domain.id, manager);
      const known = (await this.delegations.find(domain.id, manager)) ?? NOTHING;
      const told = found === 'parent' ? { names, ds } : { names: null, ds: null };
      const row: StoredDelegation = {
        names: told.names ?? known.names,
        ds: told.ds ?? known.ds,
        names_before: known.names_before,
        changed_at: known.changed_at,
        broken: [...broken].sort(),
      };
      const moved = replaced(known.names, told.names);
      const signed = replaced(known.ds, told.ds);
      if (moved) Object.assign(row, { names_before: moved, changed_at: now() });
      const above = parent || 'the root';
      if (moved)
        await this.notices.tell(manager, {
          event: 'delegation.changed',
          domain: domain.name,
          text: `The name servers of ${domain.name} at ${above} changed from ${moved.join(', ')} to ${names.join(', ')}`,
          details: { before: moved.join(' '), after: names.join(' ') },
        });
      if (signed)
        await this.notices.tell(manager, {
          event: 'delegation.changed',
          domain: domain.name,
          text: `The DS of ${domain.name} at ${above} changed`,
          details: { before: signed.join('; '), after: (row.ds ?? []).join('; ') },
        });
      for (const [code, text] of fresh)
        await this.notices.tell(manager, {
          event: 'delegation.broken',
          domain: domain.name,
          text,
          details: { code },
        });
      const next = now(EVERY_MS - Math.random() * HOUR_MS);
      await this.delegations.save(domain.id, row, now(), next, manager);
    });
  }

  /** Domains that are due, by their ids after `after`: never checked and not just made, or checked long ago. */
  due(
    count: number,
    madeBefore: string,
    after: number,
  ): Promise<{ id: number; name: string; owner_id: number | null }[]> {
    return this.delegations.due(count, now(), madeBefore, after);
  }
}
