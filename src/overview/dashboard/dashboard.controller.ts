import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me, signedIn } from '../../access/access.js';
import { DashboardQuery, DashboardView } from './dashboard.dto.js';
import { DashboardService } from './dashboard.service.js';

@ApiTags('Site')
@Controller('dashboard')
export class DashboardController {
  constructor(private readonly dashboard: DashboardService) {}

  /**
   * An overview of all that the caller may read: how many domains and records there are, how they are synchronised,
   * what needs attention, and the newest change sets. All of it is of the database: nothing is asked of providers or
   * name servers. What the caller may not see at all is null.
   */
  @Get()
  @Access({ narrowed: true, scope: 'domains:read' })
  show(@Query() { limit }: DashboardQuery, @Me() me: Caller): Promise<DashboardView> {
    return this.dashboard.show(signedIn(me), limit ?? 10);
  }
}
