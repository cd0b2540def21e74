import { Controller, Delete, Get, Param, Post, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery } from '../platform/common/paging.dto.js';
import { answerShort } from '../platform/common/short-lists.js';
import { BackupFile, BackupMade } from './backups.dto.js';
import { BACKUP_NAME, BackupsService } from './backups.service.js';

const FILE = {
  name: 'file',
  description: 'name of a backup, as the list shows it',
  schema: { type: 'string', pattern: BACKUP_NAME.source },
} as const;

@ApiTags('System')
@Access({ role: Role.Super, noTokens: true })
@Controller('system')
export class BackupsController {
  constructor(private readonly backups: BackupsService) {}

  /**
   * Writes a backup of the whole database. It is what the database holds at one moment, whatever is changed meanwhile;
   * secrets in it stay encrypted. `npm run admin -- restore` puts it into a database of any kind. Answers 409001 while
   * another one is written, and 500001 with the cause when the disk does not take it.
   */
  @Post('backup')
  @Fails('conflict')
  @Audited('backup.create')
  create(@Me() me: Caller): Promise<BackupMade> {
    return this.backups.create(me);
  }

  /** Backups in the data directory of the replica that answers, the newest first; all unless a page is asked for. */
  @Get('backups')
  async list(@Query() query: PageQuery, @Res({ passthrough: true }) response: Response): Promise<BackupFile[]> {
    return answerShort(response, await this.backups.list(), query, {
      sorts: { created_at: (b) => b.created_at, file: (b) => b.file, size: (b) => b.size },
      search: (b) => [b.file],
    });
  }

  /** Downloads a backup: gzip of JSON lines. The audit log says who did. */
  @Get('backups/:file')
  @ApiParam(FILE)
  @ApiProduces('application/gzip')
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  async download(
    @Param('file') file: string,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const { stream, size } = await this.backups.read(file, me);
    response.on('close', () => stream.destroy());
    return new StreamableFile(stream, {
      type: 'application/gzip',
      disposition: `attachment; filename="${file}"`,
      length: size,
    });
  }

  /** Deletes a backup. */
  @Delete('backups/:file')
  @ApiParam(FILE)
  @Audited('backup.delete')
  remove(@Param('file') file: string, @Me() me: Caller): Promise<void> {
    return this.backups.remove(file, me);
  }
}
