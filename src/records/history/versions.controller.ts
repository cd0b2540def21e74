import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, OnDomain } from '../../access/access.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { PastRecordList, VersionDiff, VersionList, VersionQuery } from './version.dto.js';
import { VersionReader } from './version-reader.service.js';

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/versions')
export class VersionsController {
  constructor(private readonly reader: VersionReader) {}

  /**
   * The states that the records of a domain had, newest first: what each list of changes left behind, and what
   * synchronisations found that somebody had changed at the provider. What changed nothing makes no version. Version 1
   * is the first reading of the zone. Kept as long as the audit log.
   */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: VersionQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<VersionList> {
    const { total, list, page, limit } = await this.reader.list(domain, query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }

  /** All records as of a version. Without `limit` all of them, up to 10 000; beyond that a `page` is required. */
  @Get(':version')
  @Access({ domain: 'read', scope: 'records:read' })
  async at(
    @OnDomain() domain: OpenDomain,
    @Param('version', IdPipe) version: number,
    @Query() query: VersionQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PastRecordList> {
    const { total, list, asked } = await this.reader.at(domain, version, query);
    pageHeaders(response, total, asked);
    return { total, list };
  }

  /**
   * What became of each record from one version to another, all changes in between together; the second one may be the
   * older. 400001 where more than 10 000 records differ.
   */
  @Get(':version/diff/:other')
  @Access({ domain: 'read', scope: 'records:read' })
  diff(
    @OnDomain() domain: OpenDomain,
    @Param('version', IdPipe) from: number,
    @Param('other', IdPipe) to: number,
  ): Promise<VersionDiff> {
    return this.reader.diff(domain, from, to);
  }
}
