import { Body, HttpCode, Post } from '@nestjs/common';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { Protocol } from '../../platform/http/protocol.js';
import { HooksService } from './hooks.service.js';
import { type Delivered, DeliveryInput } from './webhook.dto.js';
import { WEBHOOK } from './webhook.protocol.js';

@Protocol(WEBHOOK)
export class WebhookController {
  constructor(private readonly hooks: HooksService) {}

  @Post(':id')
  @HttpCode(200)
  @Access({ scope: 'webhook', narrowed: true, proof: 'webhook' })
  @Audited('record.update')
  deliver(@Body() body: DeliveryInput, @Me() me: Caller): Promise<Delivered> {
    return this.hooks.deliver(me, body);
  }
}
