import { Get, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { Protocol } from '../../platform/http/protocol.js';
import type { Endpoint } from './endpoints.js';
import { EXTERNAL_DNS } from './external-dns.protocol.js';
import { ExternalDnsService } from './external-dns.service.js';

/** Bodies are read by the door itself: those of large clusters have more fields than one of our own API may have. */
@Protocol(EXTERNAL_DNS)
@Access({ scope: 'external-dns', narrowed: true })
export class ExternalDnsController {
  constructor(private readonly door: ExternalDnsService) {}

  @Get()
  negotiate(@Me() me: Caller): Promise<{ include: string[] }> {
    return this.door.filter(me);
  }

  @Get('records')
  records(@Req() request: Request, @Me() me: Caller): Promise<Endpoint[]> {
    return this.door.list(me, () => request.socket.destroyed);
  }

  @Post('adjustendpoints')
  @HttpCode(200)
  adjust(@Req() { body }: Request, @Me() me: Caller): Promise<object[]> {
    return this.door.adjusted(me, body);
  }

  @Post('records')
  @HttpCode(204)
  @Audited('record.update')
  apply(@Req() { body }: Request, @Me() me: Caller): Promise<void> {
    return this.door.apply(me, body);
  }
}
