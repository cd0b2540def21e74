import { Global, Module } from '@nestjs/common';
import { Mailer } from './mailer.service.js';

/** Serves all contexts. */
@Global()
@Module({ providers: [Mailer], exports: [Mailer] })
export class NotificationsModule {}
