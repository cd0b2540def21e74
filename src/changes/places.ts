import { Injectable } from '@nestjs/common';
import type { OpenDomain } from '../domains/domain-policy.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { SettingsService } from '../settings/settings.service.js';
import type { Place } from './edit.js';

/** What the input of a domain's records is read by. */
@Injectable()
export class Places {
  constructor(
    private readonly facts: ZoneFacts,
    private readonly settings: SettingsService,
  ) {}

  async of(domain: OpenDomain): Promise<Place> {
    const { default_ttl: defaultTtl } = await this.settings.read('general');
    const { definition } = await this.facts.connection(domain);
    return { definition, zone: domain.name, defaultTtl };
  }
}
