import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { hostName, namesAbove, zoneName } from '../../dns/names.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { errors } from '../../platform/common/errors.js';

/** A name of a domain of ours. */
export interface Place {
  domain: OpenDomain;
  host: string;
}

/** Full names, as other protocols have them. */
@Injectable()
export class DoorNames {
  constructor(private readonly policy: DomainPolicy) {}

  /**
   * The domain that a full name belongs to, of those that the caller may read, and the name's host there.
   * @param field of the request that has the name
   * @throws AppError 400001, 409001; 403001 where there is none
   */
  async of(me: Caller, name: string, field: string): Promise<Place> {
    const below = zoneName(name.replace(/^\*\./, ''), field);
    const full = name.startsWith('*.') ? `*.${below}` : below;
    me.asked = { name: full, domain: null };
    const domain = await this.policy.lookAbove(signedIn(me), namesAbove(below));
    if (!domain) throw errors.forbidden('token_domain_denied', {}, { required: `domain:${full}:write` });
    me.asked.domain = { id: domain.id, name: domain.name };
    return { domain, host: hostName(`${full}.`, domain.name, field) };
  }
}
