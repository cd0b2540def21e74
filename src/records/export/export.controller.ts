import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiParam, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, OnDomain, signedIn } from '../../access/access.js';
import { RecordInput } from '../../changes/edits/record.dto.js';
import { PRINTERS } from '../../documents/print-document.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Logger } from '../../platform/common/logger.js';
import { sendDownload } from '../../platform/http/download.js';
import { ExportQuery } from './export.dto.js';
import { ExportService } from './export.service.js';

const FILES = Object.values(PRINTERS).map(({ contentType }) => [
  contentType.split(';')[0] as string,
  { schema: { type: 'string' } },
]);
const LIST = { schema: { type: 'array', items: { $ref: getSchemaPath(RecordInput) } } };

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/export')
export class ExportController {
  constructor(
    private readonly exports: ExportService,
    private readonly logger: Logger,
  ) {}

  /**
   * All records of a domain as a file, as its list has them: of an API token those that its rules let read. What the
   * form cannot hold stands in comments. `json`, `csv`, `zonefile` and `octodns` can be read back. `ETag` is that of
   * the list. An answer that breaks off is not whole: its connection is closed before the end. 429001 while too many
   * are being read.
   */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  @ApiExtraModels(RecordInput)
  @ApiOkResponse({ content: { ...Object.fromEntries(FILES), 'application/json': LIST } })
  async export(
    @OnDomain() domain: OpenDomain,
    @Query() { format }: ExportQuery,
    @Me() me: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.exports.download(domain, format, () => response.destroyed);
    await sendDownload(signedIn(me).userId, response, file, this.logger);
  }
}
