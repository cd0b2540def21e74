import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access } from '../access/access.js';
import { sha256 } from '../platform/common/hash.js';
import { PageQuery } from '../platform/common/paging.dto.js';
import { answerShort } from '../platform/common/short-lists.js';
import { alternativesOf } from './alternatives.js';
import { capabilitiesView } from './capabilities-view.js';
import type { ProviderView } from './provider.dto.js';
import { PROVIDERS } from './registry.js';

const VIEWS: ProviderView[] = PROVIDERS.map(({ kind, label, docs, credentials, capabilities }) => ({
  kind,
  label,
  docs,
  guide: `docs/providers/${kind}.md`,
  credentials: credentials as ProviderView['credentials'],
  alternatives: alternativesOf({ credentials }),
  capabilities: capabilitiesView(capabilities),
}));
const LIST = {
  sorts: { kind: (one: ProviderView) => one.kind, label: (one: ProviderView) => one.label },
  search: (one: ProviderView) => [one.kind, one.label],
};
/** Of the list as it is in this version. Weak: it comes compressed or not. */
export const PROVIDERS_TAG = `W/"${sha256(JSON.stringify(VIEWS)).slice(0, 16)}"`;

@ApiTags('Accounts')
@Access({ scope: null, narrowed: true })
@Controller('providers')
export class ProvidersController {
  /**
   * Provider kinds: credential fields, capabilities, documentation. The answer has an `ETag`, which changes with the
   * version of the service only: with it in `If-None-Match`, it is 304 without a body. All kinds unless a page is asked
   * for; a `keyword` is part of `kind` or `label`.
   */
  @ApiHeader({ name: 'if-none-match', required: false, description: 'the `ETag` of the answer that is at hand' })
  @Get()
  list(
    @Headers('if-none-match') known: string | undefined,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): ProviderView[] {
    response.setHeader('ETag', PROVIDERS_TAG);
    response.setHeader('Cache-Control', 'private, no-cache');
    if (known?.split(/\s*,\s*/).includes(PROVIDERS_TAG)) response.status(304);
    return answerShort(response, VIEWS, query, LIST);
  }
}
