import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me, OnDomain, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { MoveCopyInput, MoveInput, MoveView } from './move.dto.js';
import { MoveChecks } from './move-checks.service.js';
import { MoveSteps } from './move-steps.service.js';
import { MovesService } from './moves.service.js';

@ApiTags('Moves')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Access({ domain: 'own' })
@Controller('domains/:domain_id/migration')
export class MovesController {
  constructor(
    private readonly moves: MovesService,
    private readonly steps: MoveSteps,
    private readonly checks: MoveChecks,
  ) {}

  /**
   * Begins to move a domain to another account, which its owner and administrators may do who may use that account. The
   * zone of its name there is taken, or made with `create`; nothing is written yet. `report` says what the provider
   * there cannot hold as it is. 409001 where there is no such zone, or the domain is moved already.
   */
  @Post()
  @Fails('conflict', 'suspicious', 'unsupported', 'provider', 'notFound')
  @Audited('domain.move')
  begin(@OnDomain() domain: OpenDomain, @Body() body: MoveInput, @Me() me: Caller): Promise<MoveView> {
    return this.moves.begin(me, domain, body);
  }

  /**
   * The newest move of a domain. While it runs, the name servers of both zones are asked for up to 30 record sets, and
   * the zone above for the delegation, for ten seconds at most: `checks` says what they answer.
   */
  @Get()
  @Fails('conflict')
  async get(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<MoveView> {
    const view = await this.moves.view(domain.id);
    const more = await this.checks.of(await this.moves.of(domain.id), signedIn(me).userId);
    return { ...view, checks: [...view.checks, ...more] };
  }

  /**
   * Makes the other zone like the domain, but for what `report` names, its SOA and its own name servers. 409001 where
   * records stand there that the domain does not have, unless `replace`.
   */
  @Post('copy')
  @HttpCode(200)
  @Fails('conflict', 'guarded', 'suspicious', 'frozen', 'provider')
  @Audited('domain.move_copy')
  copy(@OnDomain() domain: OpenDomain, @Body() { replace }: MoveCopyInput, @Me() me: Caller): Promise<MoveView> {
    return this.steps.copy(me, domain, replace ?? false);
  }

  /** From now on each change of the domain goes to the other zone, too; `behind` and `error` say what did not yet. */
  @Post('follow')
  @HttpCode(200)
  @Fails('conflict')
  @Audited('domain.move_follow')
  follow(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<MoveView> {
    return this.steps.follow(me, domain);
  }

  /**
   * The other account becomes that of the domain. The ids of its records stay, and with them history, grants and rules.
   * From then on each change goes to the old zone, too. 409001 while the zones differ, or a change has no end.
   */
  @Post('switch')
  @HttpCode(200)
  @Fails('conflict', 'guarded', 'suspicious', 'frozen', 'provider')
  @Audited('domain.move_switch')
  switch(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<MoveView> {
    return this.steps.switch(me, domain);
  }

  /** Ends a move behind its switch. The old zone stays at its provider, and is no domain here any more. */
  @Post('finish')
  @HttpCode(200)
  @Fails('conflict')
  @Audited('domain.move_finish')
  finish(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<MoveView> {
    return this.steps.finish(me, domain);
  }

  /** Ends a move, and takes its switch back. The other zone stays at its provider. */
  @Post('cancel')
  @HttpCode(200)
  @Fails('conflict', 'guarded', 'suspicious', 'frozen', 'provider')
  @Audited('domain.move_cancel')
  cancel(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<MoveView> {
    return this.steps.cancel(me, domain);
  }
}
