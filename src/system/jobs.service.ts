import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { JobReader } from '../platform/jobs/job-reader.service.js';
import { Jobs } from '../platform/jobs/jobs.js';
import type { JobList, JobQuery, JobView } from './jobs.dto.js';

/** Jobs as administrators see and restart them. */
@Injectable()
export class JobsService {
  constructor(
    private readonly jobs: Jobs,
    private readonly reader: JobReader,
    private readonly audit: AuditService,
  ) {}

  /** A page: the first, unless another one is asked for. */
  async list(query: JobQuery): Promise<JobList & { page: { page: number; limit: number } }> {
    const page = { page: query.page ?? 1, limit: query.limit ?? 20 };
    return { ...(await this.reader.list({ ...query, ...page })), page };
  }

  get(id: number): Promise<JobView> {
    return this.reader.get(id);
  }

  /** @throws AppError 404001, 409001 */
  async retry(caller: Caller, id: number): Promise<JobView> {
    const { name, state, last_error } = await this.reader.get(id);
    await this.jobs.again(id);
    const target = { type: 'job', id, name };
    await this.audit.append(caller, { action: 'job.retry', target, before: { state, last_error } });
    return this.reader.get(id);
  }
}
