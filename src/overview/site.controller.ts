import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me } from '../access/access.js';
import type { BootstrapView, SiteView } from './site.dto.js';
import { SiteService } from './site.service.js';

@ApiTags('Site')
@Controller()
export class SiteController {
  constructor(private readonly sites: SiteService) {}

  /** What a page shows before anybody has signed in: name, language, background, and the ways to sign in. */
  @Get('site')
  @Access({ public: true })
  site(): Promise<SiteView> {
    return this.sites.site();
  }

  /**
   * What a page needs when somebody has signed in: who it is, what everybody may know of the settings, and how many
   * domains, accounts and API tokens the caller sees. The kinds of providers are long: they are at `providers.href`,
   * and need to be asked for only when `providers.etag` is another one.
   */
  @Get('bootstrap')
  @Access({ noTokens: true })
  bootstrap(@Me() me: Caller): Promise<BootstrapView> {
    return this.sites.bootstrap(me);
  }
}
