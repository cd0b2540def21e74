import { Readable } from 'node:stream';
import { Controller, Get, Headers, Param, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, OnDomain, signedIn } from '../../access/access.js';
import { PRINTERS } from '../../documents/print-document.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { shownName } from '../../domains/zone-identity.js';
import { downloads } from '../../platform/common/downloads.js';
import { errors } from '../../platform/common/errors.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { say } from '../../platform/common/words/field-text.js';
import { diffText } from './diff-text.js';
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

  /**
   * All records as of a version. Without `limit` all of them, up to 10 000; beyond that a `page` is required. As
   * `Accept: text/dns` the zone file, always whole, as `GET …/export?format=zonefile` has it; 429001 while too many are
   * being read.
   */
  @Get(':version')
  @Access({ domain: 'read', scope: 'records:read' })
  @ApiOkResponse({ type: PastRecordList })
  async at(
    @OnDomain() domain: OpenDomain,
    @Param('version', IdPipe) version: number,
    @Query() query: VersionQuery,
    @Headers('accept') accept: string | undefined,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PastRecordList | StreamableFile> {
    if (/^text\/dns\b/.test(accept ?? '')) return this.zoneFile(me, domain, version, query, response);
    const { total, list, asked } = await this.reader.at(domain, version, query);
    pageHeaders(response, total, asked);
    return { total, list };
  }

  /**
   * What became of each record from one version to another, all changes in between together; the second one may be the
   * older. As `Accept: text/plain` a unified diff. 400001 where more than 10 000 records differ.
   */
  @Get(':version/diff/:other')
  @Access({ domain: 'read', scope: 'records:read' })
  @ApiOkResponse({ type: VersionDiff })
  async diff(
    @OnDomain() domain: OpenDomain,
    @Param('version', IdPipe) from: number,
    @Param('other', IdPipe) to: number,
    @Headers('accept') accept: string | undefined,
  ): Promise<VersionDiff | StreamableFile> {
    const diff = await this.reader.diff(domain, from, to);
    if (!/^text\/plain\b/.test(accept ?? '')) return diff;
    const name = shownName(domain);
    const summary = { create: 0, update: 0, delete: 0 };
    for (const { op } of diff.changes) summary[op]++;
    const titles = [`${name} version ${from}`, `${name} version ${to}`] as const;
    const words = diffText(titles, diff.changes, diff.hidden, summary);
    return new StreamableFile(Buffer.from(words), { type: 'text/plain; charset=utf-8' });
  }

  private async zoneFile(
    me: Caller,
    domain: OpenDomain,
    version: number,
    query: VersionQuery,
    response: Response,
  ): Promise<StreamableFile> {
    for (const field of ['page', 'limit'] as const)
      if (query[field] !== undefined)
        throw errors.field(field, say('does not go together with {field}', { field: 'Accept: text/dns' }), 'conflict');
    const leave = downloads.takeOrRefuse({ user: signedIn(me).userId });
    // it is held for as long as the client reads
    response.once('close', leave);
    const { contentType: type, extension } = PRINTERS.zonefile;
    // a name may have a slash (RFC 2317), which no file name has
    const name = `${domain.name.replaceAll('/', '-')}-${version}.${extension}`;
    const pieces = Readable.from(await this.reader.text(domain, version), { highWaterMark: 1 });
    return new StreamableFile(pieces, { type, disposition: `attachment; filename="${name}"` });
  }
}
