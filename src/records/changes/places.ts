import { Injectable } from '@nestjs/common';
import { ProviderConnections } from '../../accounts/provider-connections.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { Place } from './edit.js';

/** What the input of a domain's records is read by. */
@Injectable()
export class Places {
  constructor(
    private readonly connections: ProviderConnections,
    private readonly settings: SettingsService,
  ) {}

  async of({ provider, name }: OpenDomain): Promise<Place> {
    const { default_ttl: defaultTtl } = await this.settings.read('general');
    return { definition: this.connections.definition(provider), zone: name, defaultTtl };
  }
}
