import { Injectable } from '@nestjs/common';
import type { Connection } from '../../accounts/provider-connections.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { ZoneFacts } from '../../domains/zone-facts.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { Place } from './edit.js';

/** What the input of a domain's records is read by. */
@Injectable()
export class Places {
  constructor(
    private readonly facts: ZoneFacts,
    private readonly settings: SettingsService,
  ) {}

  /** With the connection to its provider, by which the edits that are read can be carried out. */
  async of(domain: OpenDomain): Promise<Place & { connection: Connection }> {
    const { default_ttl: defaultTtl } = await this.settings.read('general');
    const connection = await this.facts.connection(domain);
    return { definition: connection.definition, zone: domain.name, defaultTtl, connection };
  }
}
