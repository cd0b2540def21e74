import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Role } from '../access/access.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { Audited } from '../audit/audited.js';
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
   * job, once more when it runs already.
   */
  @Post('clear-cache')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Audited('system.clear_cache')
  async clear(): Promise<CacheCleared> {
    return { ...(await this.records.begin()), lookups: this.connections.clear() };
  }
}
