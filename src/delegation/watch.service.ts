import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { log } from '../common/logger.js';
import { Jobs } from '../jobs/jobs.js';
import { issuesOf, type Survey } from './advice.js';
import { DelegationFinder, type OurZone } from './finder.service.js';
import { ZoneHealth } from './health.service.js';
import { KnownDelegations } from './known.service.js';

const TICK_MS = 300_000;
/** a new domain is often delegated only after it was added */
const NEW_MS = 600_000;
const AT_ONCE = 8;
const PIECE = 64;

/** Asks now and then what the zones above say of ours, and tells of what changed there or broke. */
@Injectable()
export class DelegationWatch implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly health: ZoneHealth,
    private readonly finder: DelegationFinder,
    private readonly known: KnownDelegations,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('delegations.watch', TICK_MS, (signal) => this.look(signal));
  }

  /** All that are due. */
  async look(signal: AbortSignal): Promise<void> {
    for (let after = 0; ; ) {
      const due = await this.known.due(PIECE, now(-NEW_MS), after);
      if (!due.length) return;
      after = due.at(-1)?.id as number;
      for (let i = 0; i < due.length; i += AT_ONCE) {
        signal.throwIfAborted();
        await Promise.all(due.slice(i, i + AT_ONCE).map((zone) => this.one(zone, signal)));
      }
    }
  }

  private async one(zone: OurZone, signal: AbortSignal): Promise<void> {
    try {
      const survey = await this.health.survey(zone, signal);
      let { delegation } = survey;
      // it is this machine that reaches nobody, perhaps
      if (!delegation.certain) return await this.known.later(zone.id);
      // a second opinion, of another server of the zone above, before anybody is alarmed
      if (await this.known.differs(zone.id, delegation)) {
        const again = await this.finder.find(zone, signal, 1);
        delegation = (await this.known.differs(zone.id, again)) ? again : { ...delegation, found: 'resolver' };
      }
      const broken = criticalOf(zone, survey);
      const fresh = await this.known.fresh(zone.id, broken);
      const still = fresh.size ? criticalOf(zone, await this.health.survey(zone, signal)) : broken;
      for (const code of fresh.keys()) if (!still.has(code)) fresh.delete(code);
      const codes = [...broken.keys()].filter((code) => still.has(code));
      await this.known.keep(zone, delegation, codes, fresh);
    } catch (error) {
      if (signal.aborted) throw error;
      log().warn({ domain: zone.name, err: (error as Error).message }, 'the delegation could not be looked at');
    }
  }
}

const criticalOf = (zone: OurZone, survey: Survey): Map<string, string> =>
  new Map(
    issuesOf(zone.name, survey)
      .filter(({ severity }) => severity === 'critical')
      .map(({ code, text }) => [code, text]),
  );
