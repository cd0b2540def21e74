import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, Role, signedIn } from '../../access/access.js';
import { AuditExportQuery, AuditList, AuditQuery, AuditVerdict, AuditView } from '../../audit/audit.dto.js';
import { AuditVerifier } from '../../audit/verifier.service.js';
import { Logger } from '../../platform/common/logger.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { sendDownload } from '../../platform/http/download.js';
import { AuditLogService } from './audit-log.service.js';
import { auditFile } from './export.js';

@ApiTags('Audit')
@Access({ role: Role.Admin, scope: 'audit:read' })
@Controller('audit')
export class AuditController {
  constructor(
    private readonly log: AuditLogService,
    private readonly verifier: AuditVerifier,
    private readonly logger: Logger,
  ) {}

  /**
   * Audit entries, newest first. All that was answered before the request is in it. An entry becomes a part of the
   * chain by this, or about a tenth of a second after it was written. A search through a large log is answered in
   * parts: `next_until` leads on, as does the `next` of the `Link` header.
   */
  @Get('logs')
  async list(@Query() query: AuditQuery, @Res({ passthrough: true }) response: Response): Promise<AuditList> {
    const { page, limit, ...found } = await this.log.list(query);
    pageHeaders(response, found.total, { page, limit }, found);
    return found;
  }

  /** One audit entry. Its `change_set_id` leads to the other changes of the same list. */
  @Get('logs/:id')
  get(@Param('id', IdPipe) id: number): Promise<AuditView> {
    return this.log.get(id);
  }

  /**
   * All entries that match, as a file. In the order of their numbers; without filters it is a whole chain, which
   * `npm run admin -- audit-verify <file>` checks (as `json` or `ndjson`) without the database. An answer that breaks
   * off is not whole: its connection is closed before the end. 429001 while too many are being read.
   */
  @Get('export')
  async export(
    @Query() { format = 'json', ...query }: AuditExportQuery,
    @Me() me: Caller,
    @Res() response: Response,
  ): Promise<AuditView[]> {
    await sendDownload(signedIn(me).userId, response, auditFile(format, this.log.all(query)), this.logger);
    return [];
  }

  /**
   * Checks the hash chain of all entries, and names the first one that was changed, moved, put in or is missing. Also
   * against the newest checkpoint in the data directory of the process that answers, so that a cut tail is found.
   */
  @Get('verify')
  verify(): Promise<AuditVerdict> {
    return this.verifier.verify();
  }
}
