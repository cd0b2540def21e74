import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access } from '../access/access.js';
import { MetaView } from './meta.dto.js';
import { META, META_TAG } from './meta.js';

@ApiTags('Site')
@Controller('meta')
export class MetaController {
  /**
   * What fields of the API take and answers may hold: record types with the parts of their values, scopes, presets,
   * events, languages, guards, roles, codes. The answer has an `ETag`, which changes with the version of the service
   * only: with it in `If-None-Match`, it is 304 without a body.
   */
  @ApiHeader({ name: 'if-none-match', required: false, description: 'the `ETag` of the answer that is at hand' })
  @Get()
  @Access({ scope: null, narrowed: true })
  show(@Headers('if-none-match') known: string | undefined, @Res({ passthrough: true }) response: Response): MetaView {
    response.setHeader('ETag', META_TAG);
    response.setHeader('Cache-Control', 'private, no-cache');
    if (known?.split(/\s*,\s*/).includes(META_TAG)) response.status(304);
    return META;
  }
}
