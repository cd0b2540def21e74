import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access } from '../common/access.js';
import { capabilitiesView } from './capabilities-view.js';
import type { ProviderView } from './provider.dto.js';
import { PROVIDERS } from './registry.js';

@ApiTags('Accounts')
@Access({ scope: null, narrowed: true })
@Controller('providers')
export class ProvidersController {
  /** Provider kinds: credential fields, capabilities, documentation. */
  @Get()
  list(): ProviderView[] {
    return PROVIDERS.map(({ kind, label, docs, credentials, capabilities }) => ({
      kind,
      label,
      docs,
      credentials: credentials as ProviderView['credentials'],
      capabilities: capabilitiesView(capabilities),
    }));
  }
}
