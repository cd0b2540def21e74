import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  type PipeTransform,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { errors } from '../../platform/common/errors.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { answerShort } from '../../platform/common/short-lists.js';
import { BrowserFlows } from './browser-flows.service.js';
import { IdentitiesService } from './identities.service.js';
import { AuthorizationUrl, BoundIdentity, OauthBindStart, PROVIDER_KEY } from './oauth.dto.js';

const KeyPipe: PipeTransform<string, string> = {
  transform: (value) => {
    if (!PROVIDER_KEY.test(value)) throw errors.field('provider', 'must be 1 to 32 of a-z, 0-9 and -');
    return value;
  },
};

@ApiTags('Security')
@Controller('security/bind-oauth')
@Access({ noTokens: true })
export class BindingController {
  constructor(
    private readonly flows: BrowserFlows,
    private readonly identities: IdentitiesService,
  ) {}

  /** The sign-ins at providers that are bound to one's own account; all of them unless a page is asked for. */
  @Get()
  async list(
    @Me() me: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BoundIdentity[]> {
    return answerShort(response, await this.identities.list(me), query, {
      sorts: {
        provider: (i) => i.provider,
        name: (i) => i.name,
        created_at: (i) => i.created_at,
        last_used_at: (i) => i.last_used_at,
      },
      search: (i) => [i.provider, i.name],
    });
  }

  /**
   * Begins to bind a sign-in at a provider to one's own account. Send the browser to `auth_url`, and what comes back to
   * `POST /api/auth/oauth/callback`, which answers `{bound: true}` while this session lives. Needs a session that is
   * younger than five minutes (403001). Answers 404001 for an unknown provider and 500002 when it does not answer.
   */
  @Post()
  @HttpCode(200)
  @Fails('notFound', 'provider')
  @Audited('oauth.bind_start')
  start(
    @Body() body: OauthBindStart,
    @Me() me: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuthorizationUrl> {
    return this.flows.startBinding(body, me, request, response);
  }

  /** Takes a binding away. Answers 404001 when there is none, and 409001 when it is the last way to sign in. */
  @Delete(':provider')
  @Fails('conflict')
  @ApiParam({ name: 'provider', schema: { type: 'string', pattern: PROVIDER_KEY.source } })
  @Audited('oauth.unbind')
  unbind(@Param('provider', KeyPipe) provider: string, @Me() me: Caller): Promise<void> {
    return this.identities.unbind(provider, me);
  }
}
