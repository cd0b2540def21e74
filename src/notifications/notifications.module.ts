import { Global, Module } from '@nestjs/common';
import { ChannelTestController } from './channel-test.controller.js';
import { ChannelTest } from './channel-test.service.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { Deliveries } from './deliveries.service.js';
import { Hooks } from './hooks.service.js';
import { Mailer } from './mailer.service.js';
import { MailsRepository } from './mails.repository.js';
import { Notices } from './notices.service.js';
import { SmtpTestController } from './smtp-test.controller.js';
import { SmtpTest } from './smtp-test.service.js';

/** Serves all contexts. Writes mails and notices; `NotificationJobsModule` sends them. */
@Global()
@Module({
  controllers: [SmtpTestController, ChannelTestController, DeliveriesController],
  providers: [DeliveriesRepository, MailsRepository, Mailer, Notices, Hooks, Deliveries, SmtpTest, ChannelTest],
  exports: [DeliveriesRepository, MailsRepository, Mailer, Notices, Hooks],
})
export class NotificationsModule {}
