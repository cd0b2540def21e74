import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, OnDomain, signedIn } from '../../access/access.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { IdPipe } from '../../platform/common/validation.js';
import { untilGone } from '../delegation/until-gone.js';
import { PropagationQuery, PropagationView } from './propagation.dto.js';
import { Propagation } from './propagation.service.js';

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/records/:record_id/propagation')
export class PropagationController {
  constructor(private readonly propagation: Propagation) {}

  /**
   * Whether a record is live: what every authoritative name server of the zone (found by the delegation, over UDP and
   * TCP, IPv4 and IPv6) and every resolver of the settings answer for its record set. With `wait` the answer comes as
   * soon as all authoritative servers agree, or with what was seen until then when so many seconds are over (and one
   * more for the resolvers), or the service ends. A server that does not answer is `unreachable`, after three seconds
   * or when the time is over. The record of a private zone is 409001.
   */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  @Fails('conflict')
  get(
    @OnDomain() domain: OpenDomain,
    @Param('record_id', IdPipe) id: number,
    @Query() { wait = 0 }: PropagationQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PropagationView | undefined> {
    return untilGone(response, (signal) =>
      this.propagation.ofRecord(signedIn(me).userId, domain, id, wait * 1000, signal),
    );
  }
}
