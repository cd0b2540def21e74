import { Body, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { defined } from '../../changes/edits/record-rules.js';
import { errors } from '../../platform/common/errors.js';
import { Protocol } from '../../platform/http/protocol.js';
import { userOf } from '../kit/requests.js';
import { HostsInput } from './dyndns2.dto.js';
import { DYNDNS2 } from './dyndns2.protocol.js';
import { Dyndns2Service } from './dyndns2.service.js';

/** @throws AppError 403001 when a page of another site makes a browser send the request with kept credentials */
function assertNoForeignPage({ headers }: Request): void {
  if (headers['sec-fetch-site'] === 'cross-site') throw errors.forbidden('foreign_page');
}

@Access({ scope: 'ddns', narrowed: true })
abstract class UpdateController {
  constructor(private readonly door: Dyndns2Service) {}

  @Get()
  @Audited('record.update')
  byQuery(@Query() query: HostsInput, @Req() request: Request, @Me() me: Caller): Promise<string> {
    // a GET that changes something is the protocol's; a HEAD only looks
    if (request.method === 'HEAD') throw errors.method('HEAD', ['GET', 'POST']);
    assertNoForeignPage(request);
    return this.door.update(me, query, userOf(request));
  }

  @Post()
  @HttpCode(200)
  @Audited('record.update')
  byForm(
    @Query() query: HostsInput,
    @Body() body: HostsInput,
    @Req() request: Request,
    @Me() me: Caller,
  ): Promise<string> {
    assertNoForeignPage(request);
    return this.door.update(me, { ...query, ...defined(body) }, userOf(request));
  }
}

@Protocol({ ...DYNDNS2, prefix: '/nic/update' })
export class NicUpdateController extends UpdateController {}

@Protocol({ ...DYNDNS2, prefix: '/v3/update' })
export class V3UpdateController extends UpdateController {}
