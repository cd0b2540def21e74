import { Controller, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Role } from '../access/access.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { Audited } from '../audit/audited.js';
import { WaitQuery } from '../platform/http/wait.dto.js';
import { FullResync } from '../records/sync/full-resync.service.js';
import { CacheCleared } from './system.dto.js';

@ApiTags('System')
@Controller('system')
export class CacheController {
  constructor(
    private readonly connections: ProviderConnections,
    private readonly records: FullResync,
  ) {}

  /**
   * Mistrusts what is kept of providers. What this process remembers of its connections to them is dropped, and in the
   * background the records of all domains are read anew, as `GET /api/domains/:id/records?refresh=true` does of one: a
   * job, once more when it runs already. Answers when it has ended, or `wait` seconds are over (0 unless given).
   */
  @Post('clear-cache')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Audited('system.clear_cache')
  async clear(@Query() { wait }: WaitQuery, @Res({ passthrough: true }) response: Response): Promise<CacheCleared> {
    const lookups = this.connections.clear();
    return { ...(await this.records.begin((wait ?? 0) * 1000, () => response.destroyed)), lookups };
  }
}
