import { Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { SyncResult } from '../accounts/account.dto.js';
import { Access, Audited, type Caller, Me, Role } from '../common/access.js';
import { IdPipe } from '../common/validation.js';
import { AccountSyncService } from './account-sync.service.js';

@ApiTags('Accounts')
@Access({ role: Role.Admin })
@Controller('accounts/:id/sync')
export class SyncController {
  constructor(private readonly accounts: AccountSyncService) {}

  /**
   * Reads the account's zones at the provider, whole or not at all, then the records of each. Answers 200 when all is read, 202 with `pending` when the
   * reading of records goes on in the background.
   */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: SyncResult })
  @ApiAcceptedResponse({ type: SyncResult, description: 'the reading of records goes on in the background' })
  @Audited('account.sync')
  async sync(
    @Param('id', IdPipe) id: number,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SyncResult> {
    const result = await this.accounts.sync(me, id);
    if (result.pending > 0) response.status(202);
    return result;
  }
}
