import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { pageHeaders } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { JobList, JobQuery, JobView } from './jobs.dto.js';
import { JobsService } from './jobs.service.js';

@ApiTags('System')
@Controller('system/jobs')
export class JobsController {
  constructor(private readonly jobs: JobsService) {}

  /**
   * What the installation does by itself, or goes on with after its answer: of all its processes, whichever does it.
   * The newest first, 20 a page. Jobs that ended well are forgotten after 7 days, those that failed after 30.
   */
  @Get()
  @Access({ role: Role.Super })
  async list(@Query() query: JobQuery, @Res({ passthrough: true }) response: Response): Promise<JobList> {
    const { total, list, page } = await this.jobs.list(query);
    pageHeaders(response, total, page);
    return { total, list };
  }

  /**
   * One job; while it runs, how far it is. Administrators may read it, too: their synchronisations answer with its id.
   */
  @Get(':id')
  @Access({ role: Role.Admin })
  get(@Param('id', IdPipe) id: number): Promise<JobView> {
    return this.jobs.get(id);
  }

  /**
   * Starts a job that failed once more, with all its tries, and one that waits at once. 409001 when it runs, or has
   * ended well.
   */
  @Post(':id/retry')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('job.retry')
  retry(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<JobView> {
    return this.jobs.retry(me, id);
  }
}
