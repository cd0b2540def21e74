import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { Db } from '../platform/database/db.js';
import { Events } from '../platform/events/events.js';
import type { DeliveryList, DeliveryQuery, DeliveryView } from './deliveries.dto.js';
import { DeliveriesRepository, type ShownDelivery } from './deliveries.repository.js';
import { LIFE_MS } from './notices.service.js';

const view = ({ content, next_at, ...row }: ShownDelivery): DeliveryView => ({
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
  ended_at: row.ended_at,
});

/** The deliveries of notices, for administrators. */
@Injectable()
export class Deliveries {
  constructor(
    private readonly db: Db,
    private readonly deliveries: DeliveriesRepository,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {}

  /** Newest first unless sorted otherwise. @throws AppError 400001 */
  async list(query: DeliveryQuery): Promise<DeliveryList & { page: { page: number; limit: number } }> {
    const page = { page: query.page ?? 1, limit: query.limit ?? 20 };
    const { total, list } = await this.deliveries.list({ ...query, ...page });
    return { total, list: list.map(view), page };
  }

  /** Revives a dead delivery, with the lifetime of a new one. @throws AppError 404001, 409001 */
  async retry(caller: Caller, id: number): Promise<DeliveryView> {
    return this.db.transaction(async (manager) => {
      const revived = await this.deliveries.revive(id, { next_at: now(), until_at: now(LIFE_MS) }, manager);
      const row = await this.deliveries.get(id, manager);
      if (!row) throw errors.notFound('delivery');
      if (!revived) throw errors.conflict('delivery_not_dead', { state: row.state });
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
