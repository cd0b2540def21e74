import { Module } from '@nestjs/common';
import { Courier } from './courier.service.js';
import { NotificationsModule } from './notifications.module.js';
import { Outbox } from './outbox.service.js';

/** What runs by itself: only the service imports it, so that a command that writes mails does not send them. */
@Module({ imports: [NotificationsModule], providers: [Outbox, Courier] })
export class NotificationJobsModule {}
