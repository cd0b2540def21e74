import { Controller, Get, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, OnDomain, signedIn } from '../../access/access.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { ZoneHealthView } from './health.dto.js';
import { ZoneHealth } from './health.service.js';
import { untilGone } from './until-gone.js';

@ApiTags('Domains')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/health')
export class DelegationController {
  constructor(private readonly health: ZoneHealth) {}

  /**
   * Looks at the domain from outside, now: the name servers that the zone above delegates it to against those of the
   * zone, whether each answers and serves it, DS against DNSKEY, and whether the delegation changed lately. Every issue
   * comes with one line of advice. Servers that do not answer are waited for three seconds. No
   * more of their answers is read than docs/watching.md says; `answer_too_large` tells of what was left out. Who asks
   * while the same domain is looked at gets the same answer; a process looks at 10 domains of one user at once, lets 10
   * more wait, and refuses the next one (429001). A private zone is 409001.
   */
  @Get()
  @Access({ domain: 'read', scope: 'domains:read' })
  @Fails('conflict')
  get(
    @OnDomain() domain: OpenDomain,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ZoneHealthView | undefined> {
    return untilGone(response, (signal) => this.health.look(domain, signedIn(me).userId, signal));
  }
}
