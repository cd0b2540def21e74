import { createHash } from 'node:crypto';
import { Body, HttpCode, Post } from '@nestjs/common';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { errors } from '../../platform/common/errors.js';
import { Protocol } from '../../platform/http/protocol.js';
import { Challenges } from '../kit/challenges.service.js';
import { DoorNames } from '../kit/door-names.service.js';
import { ChallengeInput } from './httpreq.dto.js';
import { HTTPREQ } from './httpreq.protocol.js';

/** What is put into DNS, as the client called it. */
interface Challenge {
  fqdn: string;
  value: string;
}

@Protocol(HTTPREQ)
@Access({ scope: 'acme', narrowed: true })
export class HttpreqController {
  constructor(
    private readonly names: DoorNames,
    private readonly challenges: Challenges,
  ) {}

  @Post('present')
  @HttpCode(200)
  @Audited('record.create')
  async present(@Body() body: ChallengeInput, @Me() me: Caller): Promise<Challenge> {
    const { fqdn, value } = challengeOf(body);
    await this.challenges.add(me, await this.names.of(me, fqdn, 'fqdn'), value);
    return { fqdn, value };
  }

  @Post('cleanup')
  @HttpCode(200)
  @Audited('record.delete')
  async cleanup(@Body() body: ChallengeInput, @Me() me: Caller): Promise<Challenge> {
    const { fqdn, value } = challengeOf(body);
    await this.challenges.remove(me, await this.names.of(me, fqdn, 'fqdn'), value);
    return { fqdn, value };
  }
}

/** @throws AppError 400001 naming what is missing */
function challengeOf({ fqdn, value, domain, keyAuth }: ChallengeInput): Challenge {
  if (domain !== undefined && fqdn === undefined) {
    if (keyAuth === undefined) throw errors.field('keyAuth', 'must be given', 'required');
    const name = `_acme-challenge.${domain.replace(/^\*\./, '').replace(/\.?$/, '.')}`;
    return { fqdn: name, value: createHash('sha256').update(keyAuth).digest('base64url') };
  }
  if (fqdn === undefined) throw errors.field('fqdn', 'must be given', 'required');
  if (value === undefined) throw errors.field('value', 'must be given', 'required');
  return { fqdn, value };
}
