import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { Db } from '../database/db.js';
import { Notices } from '../notifications/notices.service.js';
import type { Delegation } from './finder.service.js';

/** A stored row, its JSON read. */
interface Row {
  names: string[] | null;
  names_before: string[] | null;
  ds: string[] | null;
  changed_at: string | null;
  broken: string[] | null;
}

const HOUR_MS = 3_600_000;
const EVERY_MS = 6 * HOUR_MS;
/** after that a change is how it is */
const NEWS_MS = 7 * 24 * HOUR_MS;

const same = (a: readonly string[], b: readonly string[]) => a.join('\n') === b.join('\n');

/** What the zones above said of ours when they were asked last: a change of it is told of. */
@Injectable()
export class KnownDelegations {
  constructor(
    private readonly db: Db,
    private readonly notices: Notices,
  ) {}

  /** Name servers that the zone above named before it changed them, lately; null when it did not. */
  async before(domainId: number, { found, names }: Delegation): Promise<string[] | null> {
    const known = await this.of(domainId);
    if (found !== 'parent' || !known?.names) return null;
    if (!same(known.names, names)) return known.names;
    return known.names_before && (known.changed_at as string) > now(-NEWS_MS) ? known.names_before : null;
  }

  /** Whether the zone above says something else than the last time. */
  async differs(domainId: number, { found, names, ds }: Delegation): Promise<boolean> {
    const known = await this.of(domainId);
    if (found !== 'parent' || !known?.names) return false;
    return !same(known.names, names) || Boolean(ds && known.ds && !same(known.ds, ds));
  }

  /** Of what is critical now, what was not when it was looked at last; not what never was otherwise. */
  async fresh(domainId: number, broken: ReadonlyMap<string, string>): Promise<Map<string, string>> {
    const known = await this.of(domainId);
    const isNews = (code: string) => !known?.broken?.includes(code) && (code !== 'not_delegated' || known?.names);
    return new Map([...broken].filter(([code]) => isNews(code)));
  }

  /** Nothing could be found out: it is looked at again soon. */
  async later(domainId: number): Promise<void> {
    const next = now(HOUR_MS * (1 + Math.random()));
    const update = 'UPDATE delegations SET next_at = ? WHERE domain_id = ?';
    if (await this.db.run(update, [next, domainId])) return;
    await this.db.run('INSERT INTO delegations (next_at, domain_id) VALUES (?, ?)', [next, domainId]);
  }

  /**
   * Keeps what was found, and tells of what changed since the last time, and what broke.
   * @param broken codes of all that is critical
   * @param fresh what of it is told, code to words
   */
  async keep(
    domain: { id: number; name: string },
    { found, names, ds, parent }: Delegation,
    broken: readonly string[],
    fresh: ReadonlyMap<string, string>,
  ): Promise<void> {
    await this.db.transaction(async (manager) => {
      await this.db.lock(manager, 'delegations', { domain_id: domain.id });
      const known = await this.of(domain.id, manager);
      const row = { names, ds, names_before: known?.names_before ?? null, changed_at: known?.changed_at ?? null };
      if (found !== 'parent') Object.assign(row, { names: known?.names ?? null, ds: known?.ds ?? null });
      row.ds ??= known?.ds ?? null;
      const moved = found === 'parent' && known?.names && !same(known.names, names) ? known.names : null;
      const signed = found === 'parent' && known?.ds && row.ds && !same(known.ds, row.ds) ? known.ds : null;
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
      await this.write(domain.id, { ...row, broken: [...broken].sort() }, manager);
    });
  }

  private async write(domainId: number, row: Row, manager: Parameters<Db['run']>[2]): Promise<void> {
    const texts = [row.names, row.names_before, row.ds, row.broken].map((list) => list && JSON.stringify(list));
    const jitter = Math.random() * HOUR_MS;
    const values = [...texts, row.changed_at, now(), now(EVERY_MS - jitter), domainId];
    const update = `UPDATE delegations SET names = ?, names_before = ?, ds = ?, broken = ?, changed_at = ?, checked_at = ?,
      next_at = ? WHERE domain_id = ?`;
    if (await this.db.run(update, values, manager)) return;
    const insert = `INSERT INTO delegations (names, names_before, ds, broken, changed_at, checked_at, next_at, domain_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    await this.db.run(insert, values, manager);
  }

  /** Domains that are due, by their ids behind `after`: never asked and not just made, or asked long ago. */
  due(
    count: number,
    madeBefore: string,
    after: number,
  ): Promise<{ id: number; name: string; owner_id: number | null }[]> {
    return this.db.rows(
      `SELECT d.id, d.name, d.owner_id FROM domains d LEFT JOIN delegations k ON k.domain_id = d.id
        WHERE d.id > ? AND (k.next_at <= ? OR (k.domain_id IS NULL AND d.created_at < ?)) ORDER BY d.id LIMIT ?`,
      [after, now(), madeBefore, count],
    );
  }

  private async of(domainId: number, manager?: Parameters<Db['row']>[2]): Promise<Row | null> {
    const row = await this.db.row<Record<string, string | null>>(
      'SELECT names, names_before, ds, broken, changed_at FROM delegations WHERE domain_id = ?',
      [domainId],
      manager,
    );
    if (!row) return null;
    const list = (text: string | null | undefined) => (text ? (JSON.parse(text) as string[]) : null);
    return {
      names: list(row.names),
      names_before: list(row.names_before),
      ds: list(row.ds),
      broken: list(row.broken),
      changed_at: row.changed_at ?? null,
    };
  }
}
