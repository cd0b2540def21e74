import { Inject, Injectable } from '@nestjs/common';
import { Role } from '../../access/access.js';
import { DomainsRepository } from '../../domains/domains.repository.js';
import type { Cidr } from '../../platform/common/cidr.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { type Bound, Effort } from '../../platform/dns-client/effort.js';

/** What all questions of one check of a zone share. */
export interface Look {
  signal: AbortSignal | undefined;
  /** addresses at which name servers may be asked besides public ones: the zone's owner chooses the name servers */
  allow: readonly Cidr[];
  effort: Effort;
}

/** Begins checks of zones. */
@Injectable()
export class Looks {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly domains: DomainsRepository,
  ) {}

  /** For a zone whose owner is no administrator, name servers are asked at public addresses only. */
  async begin(zone: { id: number }, bound: Bound, signal?: AbortSignal): Promise<Look> {
    const trusted = (await this.domains.ownerRole(zone.id)) >= Role.Admin;
    return { signal, allow: trusted ? this.config.outboundAllow : [], effort: new Effort(bound) };
  }
}
