import { Controller, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, GoesOn, Me, Role } from '../../access/access.js';
import { SyncAccepted, SyncQuery, SyncResult } from '../../accounts/account.dto.js';
import { Audited } from '../../audit/audited.js';
import { IdPipe } from '../../platform/common/validation.js';
import { AccountSyncService } from './account-sync.service.js';

/** seconds that the answer waits */
const WAIT_S = 50;

@ApiTags('Accounts')
@Access({ role: Role.Admin })
@Controller('accounts/:id/sync')
export class SyncController {
  constructor(private readonly accounts: AccountSyncService) {}

  /**
   * Reads the account's zones at the provider, whole or not at all, then the records of each. Answers 200 when all is
   * read within `wait` seconds (50 unless given), else 202 with the job that goes on, or begins when there is a place
   * for it: `GET /api/system/jobs/:id`, which `Location` names, shows how far it is. 409001 while another one of
   * this account runs; 500002 when the provider fails. A list without any zone, or with less than half of four or more
   * known ones, changes nothing: 409002 with what would be marked as missing; `confirm=true` accepts it. A domain
   * that would lose more than half of twenty or more records counts as failed, and is accepted by itself:
   * `GET /api/domains/:id/records?refresh=true&confirm=true`.
   */
  @Post()
  @HttpCode(200)
  @Fails('conflict', 'suspicious', 'provider')
  @ApiOkResponse({ type: SyncResult })
  @ApiAcceptedResponse({ type: SyncAccepted, description: 'the synchronisation goes on in the background' })
  @GoesOn<SyncAccepted>(({ job_id }) => `/api/system/jobs/${job_id}`)
  @Audited('account.sync')
  async sync(
    @Param('id', IdPipe) id: number,
    @Query() { confirm, wait }: SyncQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SyncResult | SyncAccepted> {
    const started = await this.accounts.sync(me, id, confirm ?? false, (wait ?? WAIT_S) * 1000);
    if (started.ended) return started.result;
    response.status(202);
    return { job_id: started.id };
  }
}
