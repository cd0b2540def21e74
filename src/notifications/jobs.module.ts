import { Module } from '@nestjs/common';
import { Courier } from './courier.service.js';
import { NotificationsModule } from './notifications.module.js';
import { Outbox } from './outbox.service.js';

/** The senders: only the service imports them, so that administration commands queue mails without sending them. */
@Module({ imports: [NotificationsModule], providers: [Outbox, Courier] })
export class NotificationJobsModule {}
