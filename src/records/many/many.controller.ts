import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Makes, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { PlanGroupView } from '../plans/group.dto.js';
import { ManyPlansInput } from './many.dto.js';
import { ManyPlans } from './many-plans.service.js';

@ApiTags('Plans')
@Controller('plans')
export class ManyPlansController {
  constructor(private readonly plans: ManyPlans) {}

  /**
   * Works out changes of many domains, and makes none: a plan for each domain, which is read at its provider first.
   * Either `domains`, each with its changes, or `where` with `set`: what records shall become that are found as
   * `GET /api/records` finds them. Domains of which no plan could be made, and those that the caller may only read,
   * stand in `failed`; where that is so of all of them, it is the error of the first. One with nothing to do is not
   * stored (`id: null`).
   *
   * The changes of plans that are stored count toward the rate limit of the caller, apart from changes that are made.
   * One user can have 1,000 plans that are neither applied nor expired, with 200,000 changes in all; more
   * are 409001 (`plans_full`).
   */
  @Post()
  @Access({ narrowed: true, scope: 'records:write' })
  @Fails('notFound', 'conflict', 'suspicious', 'provider')
  @Makes<PlanGroupView>(({ id }) => id)
  @Audited('changes.plan')
  create(@Body() body: ManyPlansInput, @Me() me: Caller): Promise<PlanGroupView> {
    return this.plans.create(me, body);
  }
}
