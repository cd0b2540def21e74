import { Get, HttpCode, Param, Put, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Access, type Caller, Me } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { Protocol } from '../../platform/http/protocol.js';
import { POWERDNS } from './powerdns.protocol.js';
import { PowerdnsSearch } from './search.service.js';
import { API, SERVER_VIEW } from './zone-views.js';

/** Where clients begin. */
@Protocol(POWERDNS, 'api')
@Access({ scope: 'powerdns', narrowed: true })
export class PowerdnsApiController {
  @Get()
  versions(): object[] {
    return [{ url: API, version: 1 }];
  }

  @Get('v1/servers')
  servers(): object[] {
    return [SERVER_VIEW];
  }
}

/** What a server has beside its zones: there is nothing to set here. */
@Protocol(POWERDNS, 'api/v1/servers/localhost')
@Access({ scope: 'powerdns', narrowed: true })
export class PowerdnsServerController {
  constructor(private readonly search: PowerdnsSearch) {}

  @Get()
  server(): object {
    return SERVER_VIEW;
  }

  @Get(['config', 'statistics', 'tsigkeys', 'autoprimaries'])
  none(): never[] {
    return [];
  }

  @Get('config/:setting')
  setting(@Param('setting') path: string): never {
    throw errors.notFound('route', { method: 'GET', path });
  }

  @Get('views')
  views(): object {
    return { views: [] };
  }

  @Get('networks')
  networks(): object {
    return { networks: [] };
  }

  @Get('search-data')
  find(@Query() query: Record<string, unknown>, @Req() request: Request, @Me() me: Caller): Promise<object[]> {
    return this.search.find(me, query, () => request.socket.destroyed);
  }

  @Put('cache/flush')
  @HttpCode(200)
  flush(): object {
    return { count: 0, result: 'Flushed cache.' };
  }
}
