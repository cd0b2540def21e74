import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Role } from '../common/access.js';
import { pageHeaders } from '../common/paging.dto.js';
import { IdPipe } from '../common/validation.js';
import { AuditList, AuditQuery, AuditVerdict, AuditView } from './audit.dto.js';
import { AuditReader } from './audit-reader.service.js';

@ApiTags('Audit')
@Access({ role: Role.Admin, scope: 'audit:read' })
@Controller('audit')
export class AuditController {
  constructor(private readonly audit: AuditReader) {}

  /** Audit entries, newest first. */
  @Get('logs')
  async list(@Query() query: AuditQuery, @Res({ passthrough: true }) response: Response): Promise<AuditList> {
    const { total, list, page, limit } = await this.audit.list(query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }

  /** One audit entry. */
  @Get('logs/:id')
  get(@Param('id', IdPipe) id: number): Promise<AuditView> {
    return this.audit.get(id);
  }

  /** Checks the hash chain of all entries, and names the first one that was changed or is missing. */
  @Get('verify')
  verify(): Promise<AuditVerdict> {
    return this.audit.verify();
  }
}
