import { Global, Module } from '@nestjs/common';
import { Events } from './events.js';

/** Serves all contexts. */
@Global()
@Module({ providers: [Events], exports: [Events] })
export class EventsModule {}
