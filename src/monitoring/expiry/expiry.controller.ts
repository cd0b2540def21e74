import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, OnDomain, signedIn } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { PageQuery, pageHeaders, pageOf } from '../../platform/common/paging.dto.js';
import { Certificates } from './certificates.service.js';
import { CertificateView, RegistrationView } from './expiry.dto.js';
import { Registrations } from './registrations.service.js';

@ApiTags('Domains')
@Controller('domains/:domain_id')
export class ExpiryController {
  constructor(
    private readonly registrations: Registrations,
    private readonly certificates: Certificates,
  ) {}

  /**
   * Asks the registry now when the registration ends: RDAP, else WHOIS, else the provider. The answer is what it says,
   * also where the domain's own date is set by hand; what was told less than a minute ago is not asked again. 409001
   * where there is nobody to ask, as for a private zone, 429001 where too many ask now, 500002 when no date came
   * of it within 20 s: the one that was known stays.
   */
  @Post('expiry')
  @HttpCode(200)
  @Access({ domain: 'write' })
  @Fails('conflict', 'provider')
  @Audited('domain.expiry')
  @ApiParam({ name: 'domain_id', type: 'integer' })
  look(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<RegistrationView> {
    return this.registrations.now(domain, signedIn(me).userId);
  }

  /**
   * The certificates of its hosts, as they were seen at the last look: once a day where `watch_certificates` is set,
   * names with addresses only, 50 of them. The total is in `X-Total-Count`.
   */
  @Get('certificates')
  @Access({ domain: 'read', scope: 'domains:read' })
  @ApiParam({ name: 'domain_id', type: 'integer' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CertificateView[]> {
    const { total, list } = await this.certificates.list(domain, query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }
}
