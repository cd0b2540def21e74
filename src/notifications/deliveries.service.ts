import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import type { Caller } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { Db } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { Events } from '../events/events.js';
import type { DeliveryQuery, DeliveryView } from './deliveries.dto.js';
import type { Delivery } from './delivery.entity.js';
import { LIFE_MS } from './notices.service.js';

const COLUMNS = 'id, notice, channel, event, domain, content, state, tries, next_at, created_at, sent_at, error';
const SORTS = { id: 'id', created_at: 'created_at', channel: 'channel', tries: 'tries' };

type Row = Pick<
  Delivery,
  'id' | 'notice' | 'channel' | 'domain' | 'content' | 'tries' | 'next_at' | 'created_at' | 'sent_at' | 'error'
> &
  Pick<DeliveryView, 'event' | 'state'>;

const view = ({ content, next_at, ...row }: Row): DeliveryView => ({
  id: row.id,
  notice: row.notice,
  channel: row.channel,
  event: row.event,
  domain: row.domain,
  text: JSON.parse(content).text,
  state: row.state,
  tries: row.tries,
  error: row.error,
  created_at: row.created_at,
  next_at: row.state === 'waiting' ? next_at : null,
  sent_at: row.sent_at,
});

/** What became of notices, for administrators. */
@Injectable()
export class Deliveries {
  constructor(
    private readonly db: Db,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {}

  /** Newest first unless sorted otherwise. @throws AppError 400001 */
  async list(query: DeliveryQuery): Promise<{ total: number; list: DeliveryView[] }> {
    const filters = (['state', 'channel', 'event'] as const).filter((field) => query[field] !== undefined);
    const { total, list } = await listRows<Row>(this.db, query, {
      columns: COLUMNS,
      from: 'deliveries',
      where: filters.map((field) => `${field} = ?`).join(' AND ') || '1 = 1',
      values: filters.map((field) => query[field] as string),
      sorts: SORTS,
      fallback: '-id',
      id: 'id',
      search: ['LOWER(domain)', 'LOWER(content)'],
    });
    return { total, list: list.map(view) };
  }

  /** Tries once more what nobody tries any more, for as long as a new one. @throws AppError 404001, 409001 */
  async retry(caller: Caller, id: number): Promise<DeliveryView> {
    return this.db.transaction(async (manager) => {
      const changed = await this.db.run(
        `UPDATE deliveries SET state = 'waiting', tries = 0, next_at = ?, until_at = ? WHERE id = ? AND state = 'dead'`,
        [now(), now(LIFE_MS), id],
        manager,
      );
      const row = await this.db.row<Row>(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`, [id], manager);
      if (!row) throw errors.notFound('Delivery');
      if (!changed) throw errors.conflict(`The delivery is not dead, but ${row.state}`);
      const target = { type: 'delivery', id, name: row.event };
      await this.audit.write(manager, caller, {
        action: 'notification.retry',
        target,
        after: { channel: row.channel },
      });
      this.db.afterCommit(manager, () => void this.events.emit('notice.queued'));
      return view(row);
    });
  }
}
