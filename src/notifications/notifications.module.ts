import { Global, Module } from '@nestjs/common';
import { Mailer } from './mailer.service.js';
import { SmtpTestController } from './smtp-test.controller.js';
import { SmtpTest } from './smtp-test.service.js';

/** Serves all contexts. Writes mails; `NotificationJobsModule` sends them. */
@Global()
@Module({ controllers: [SmtpTestController], providers: [Mailer, SmtpTest], exports: [Mailer] })
export class NotificationsModule {}
