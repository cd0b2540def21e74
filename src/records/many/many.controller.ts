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
   * Plans changes of many domains without applying them. Each domain is read at its provider first and gets its own
   * plan. Either `domains` lists the changes of each domain, or `set` gives new values for all records that match
   * `where`, as in `GET /api/records`. `failed` lists domains that could not be planned, and those that the caller may
   * only read. If all fail, the response is the first error. A plan without changes is not stored (`id: null`).
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
