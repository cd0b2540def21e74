import { Inject, Injectable } from '@nestjs/common';
import { Role } from '../common/access.js';
import type { Cidr } from '../common/cidr.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { type Bound, Effort } from '../dns-client/effort.js';
import { DomainsRepository } from '../domains/domains.repository.js';

/** One look at a zone from outside, with all its questions. */
export interface Look {
  signal?: AbortSignal;
  /** what name servers may be asked at besides public addresses: whoever keeps the zone names them */
  allow: readonly Cidr[];
  effort: Effort;
}

/** Begins looks at zones. */
@Injectable()
export class Looks {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly domains: DomainsRepository,
  ) {}

  /** Of a zone of somebody who is no administrator, name servers are asked at public addresses only. */
  async begin(zone: { id: number }, bound: Bound, signal?: AbortSignal): Promise<Look> {
    const trusted = (await this.domains.ownerRole(zone.id)) >= Role.Admin;
    return { signal, allow: trusted ? this.config.outboundAllow : [], effort: new Effort(bound) };
  }
}
