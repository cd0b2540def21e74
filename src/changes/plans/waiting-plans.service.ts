import { createHash } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { DomainStateRepository } from '../../domains/domain-state.repository.js';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { due, turn } from '../../platform/common/turns.js';
import { Db } from '../../platform/database/db.js';
import { Makers } from '../../tokens/makers.service.js';
import type { Job } from '../attempts.service.js';
import type { ListOptions } from '../change-sets.js';
import { ChangeEngine } from '../engine.service.js';
import { type NeedsApproval, Waits, type WantedChange } from '../gate/waits.js';
import { PastRepository } from '../history/past.repository.js';
import type { Plan } from './plan.entity.js';
import { type Asker, PlansRepository, UNDECIDED } from './plans.repository.js';

/** ms that a plan lives */
export const LIFE_MS = 86_400_000;

/** Lists that need an approval, whichever way they come by: each is stored as a plan that waits. */
@Injectable()
export class WaitingPlans implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly plans: PlansRepository,
    private readonly past: PastRepository,
    private readonly state: DomainStateRepository,
    private readonly engine: ChangeEngine,
    private readonly makers: Makers,
    private readonly audit: AuditService,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.engine.asksBy((job, wish) => this.wait(job, wish));
  }

  /** What waits for a subject in a domain is not wanted any more. */
  outdate(domainId: number, subject: string, manager: EntityManager): Promise<void> {
    return this.plans.outdate(domainId, subject, 0, manager);
  }

  /** Stores a list as a plan that waits, or finds the one that waits for the same. @returns what its caller is told */
  private async wait({ actor, domain, options }: Job, { changes }: NeedsApproval): Promise<Waits> {
    const asker = await this.askerOf(actor, options);
    const wish = await hashOf(changes);
    const version = await this.past.newest(domain.id);
    const { door, comment, subject = null, plan: shown } = options;
    const [created_at, expires_at] = [now(), now(LIFE_MS)];
    const door_key = actor === 'system' ? null : (actor.door ?? null);
    const asked = { ...asker, ...UNDECIDED, door, door_key, comment, wish, subject, expires_at };
    const id = await this.db.transaction(async (manager) => {
      // one after the other: the same wish at the same time waits once
      await this.state.hold(domain.id, manager);
      const known = await this.plans.waiting(domain.id, asker, wish, created_at, manager);
      if (known) return known.id;
      let planId = shown?.whole ? shown.id : null;
      if (planId === null) {
        const base = sha256(changes.map((change) => change.base).join('\n'));
        const fresh = { version, base, unchanged: 0, warnings: '', group_id: null, change_set_id: null, created_at };
        planId = await this.plans.insert(
          { domain_id: domain.id, state: 'waiting', ...asked, ...fresh },
          changes,
          manager,
        );
      } else if (!(await this.plans.wait(planId, asked, manager)))
        throw errors.conflict('plan_ended', { state: 'applied' });
      if (subject !== null) await this.plans.outdate(domain.id, subject, planId, manager);
      const summary = { plan_id: planId, changes: changes.length };
      const target = { type: 'plan', id: planId, name: domain.name };
      await this.audit.write(manager, actor, {
        action: 'changes.wait',
        domain,
        target,
        after: { ...summary, ...asker },
      });
      const text = `plan ${planId} of ${domain.name} waits for an approval: ${changes.length} changes, asked for by ${whoOf(asker)}`;
      await this.notices.tell(manager, {
        event: 'plan.waiting',
        text,
        domain: domain.name,
        details: { ...summary, username: asker.username },
      });
      return planId;
    });
    if (actor !== 'system') this.audit.notNeeded(actor);
    return new Waits(id);
  }

  /** In whose name a list waits: of what goes by itself, its maker's. */
  private async askerOf(actor: Actor, { maker }: ListOptions): Promise<Asker> {
    const principal = actor === 'system' ? maker && (await this.makers.principal(maker)) : actor.principal;
    if (!principal || typeof principal === 'string')
      return {
        user_id: maker?.maker_id ?? null,
        username: null,
        token_id: maker?.maker_token_id ?? null,
        token_name: null,
      };
    const { userId, username, token } = principal;
    return { user_id: userId, username, token_id: token?.id ?? null, token_name: token?.name ?? null };
  }
}

export const whoOf = ({ username, token_name }: Pick<Plan, 'username' | 'token_name'>): string =>
  `${username ?? 'somebody'}${token_name === null ? '' : ` with the token “${token_name}”`}`;

/** What is wanted, and what stands at its names. */
async function hashOf(changes: readonly WantedChange[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { guards: _, ...change } of changes) {
    if (due()) await turn();
    hash.update(`${JSON.stringify(change)}\n`);
  }
  return hash.digest('hex');
}
