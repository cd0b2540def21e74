import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now, timeoutSignal } from '../../platform/common/clock.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import { SURVEY } from '../../platform/dns-client/effort.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { issuesOf, type Survey } from './advice.js';
import { DelegationFinder, type OurZone } from './finder.service.js';
import { ZoneHealth } from './health.service.js';
import { KnownDelegations } from './known.service.js';
import { Looks } from './looks.service.js';

const TICK_MS = 300_000;
/** a new domain is often delegated only after it was added */
const NEW_MS = 600_000;
/** ms in which one tick begins checks: the rest stays due for the next tick */
const PIECE_MS = 240_000;
const PIECE = 500;

/** Checks the delegations of our zones regularly, and notifies of changes and failures. */
@Injectable()
export class DelegationWatch implements OnModuleInit {
  private readonly pool = new FairPool('delegation watch');

  constructor(
    private readonly jobs: Jobs,
    private readonly health: ZoneHealth,
    private readonly finder: DelegationFinder,
    private readonly known: KnownDelegations,
    private readonly looks: Looks,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('delegations.watch', TICK_MS, (signal) => this.look(signal));
  }

  /** Checks all that are due. */
  async look(signal: AbortSignal): Promise<void> {
    const enough = AbortSignal.any([signal, timeoutSignal(PIECE_MS)]);
    const looks: Promise<void>[] = [];
    for (let after = 0; ; ) {
      const due = await this.known.due(PIECE, now(-NEW_MS), after);
      const last = due.at(-1);
      if (!last) break;
      after = last.id;
      for (const { owner_id, ...zone } of due)
        looks.push(
          this.pool
            .run({ user: owner_id, target: zone.id }, () => this.one(zone, signal), enough)
            .catch((error) => {
              if (!enough.aborted) throw error;
            }),
        );
    }
    await Promise.all(looks);
    signal.throwIfAborted();
  }

  private async one(zone: OurZone, signal: AbortSignal): Promise<void> {
    try {
      const survey = await this.health.survey(zone, signal);
      let { delegation } = survey;
      // perhaps this machine has no network
      if (!delegation.certain) return await this.known.later(zone.id);
      // a second opinion, of another server of the zone above, before anybody is alarmed
      if (await this.known.differs(zone.id, delegation)) {
        const again = await this.finder.find(zone, await this.looks.begin(zone, SURVEY, signal), 1);
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
      this.logger.warn({ domain: zone.name, err: (error as Error).message }, 'the delegation could not be looked at');
    }
  }
}

const criticalOf = (zone: OurZone, survey: Survey): Map<string, string> =>
  new Map(
    issuesOf(zone.name, survey)
      .filter(({ severity }) => severity === 'critical')
      .map(({ code, text }) => [code, text]),
  );
