import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainEndsRepository, type Watched } from '../../domains/domain-ends.repository.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { assertPublic } from '../../domains/zone-identity.js';
import { now, timeMs, timeoutSignal } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Events } from '../../platform/events/events.js';
import { OutboundError, type OutboundErrorKind, storable } from '../../platform/outbound/outbound-error.js';
import type { Silence } from './answers.js';
import type { RegistrationView } from './expiry.dto.js';
import { type Looked, Lookup } from './lookup.service.js';
import { registrableOf, tldOf } from './registrable.js';
import { type RegistrationRow, RegistrationsRepository } from './registrations.repository.js';

const DAY_MS = 24 * 3_600_000;
/** an end within so many days is near: the registry is asked four times a day */
const NEAR_DAYS = 7;
const NEAR_MS = 6 * 3_600_000;
/** ms until the next try after the first failure, and the longest */
const RETRY_MS = 3_600_000;
/** a second question within so many ms is answered by what was found: registries count questions */
const SAME_MS = 60_000;
/** ms that a request waits for an answer */
const PATIENCE_MS = 20_000;

/** What came of one question. */
type Outcome = RegistrationView & Pick<Looked, 'end' | 'failure'>;

/** The error of a request, by why the registry gave no date. */
const KINDS: Record<Silence, OutboundErrorKind> = {
  limited: 'rate_limit',
  unavailable: 'unavailable',
  unreadable: 'unavailable',
  unregistered: 'not_found',
  dateless: 'unavailable',
};

/** When registrations end: asks about a registrable name, and has the zones at and below it follow the answer. */
@Injectable()
export class Registrations implements OnModuleInit {
  private readonly own: ReadonlySet<string>;
  private readonly pool = new FairPool('registry look-ups now');
  /** names that this process is asking about */
  private readonly asking = new Map<string, Promise<Outcome>>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: RegistrationsRepository,
    private readonly events: Events,
    private readonly ends: DomainEndsRepository,
    private readonly lookup: Lookup,
    private readonly logger: Logger,
  ) {
    const { rdapServers, whoisServers } = config.expiry;
    this.own = new Set([...Object.keys(rdapServers), ...Object.keys(whoisServers)]);
  }

  onModuleInit(): void {
    this.events.on('domain.expiry.automatic', (name) => this.automatic(name));
  }

  /** The registrable name of a zone; null where nobody registers it. */
  registrable(name: string): string | null {
    return registrableOf(name, this.own);
  }

  /**
   * Asks about a domain's registration now. @returns what is known of it then
   * @param userId who asks
   * @throws AppError 429001 where too many ask, 409001 where there is nobody to ask; OutboundError when no date came of
   * it
   */
  async now(domain: Pick<DomainRow, 'name' | 'apart'>, userId: number): Promise<RegistrationView> {
    if (!this.config.expiry.lookups) throw errors.conflict('lookups_off');
    assertPublic(domain);
    const name = this.registrable(domain.name);
    if (!name) throw errors.conflict('not_registrable', { name: domain.name });
    const zones = await this.zonesOf(name);
    if (!(await this.repository.byName(name))) await this.repository.add([name], now());
    const row = await this.repository.byName(name);
    if (!row) throw errors.conflict('busy');
    if (row.expires_at && !row.error && row.checked_at && row.checked_at > now(-SAME_MS)) {
      await this.level(row, zones);
      return viewOf(row);
    }
    await this.repository.postpone(row.id, now(RETRY_MS));
    const { failure, end, ...known } = await this.answerInTime(row, zones, userId);
    if (!end && failure) throw new OutboundError(KINDS[failure.kind], known.error ?? failure.message, false);
    return known;
  }

  /** @throws OutboundError when the answer takes too long */
  private async answerInTime(row: RegistrationRow, zones: readonly Watched[], userId: number): Promise<Outcome> {
    const { name } = row;
    const signal = timeoutSignal(PATIENCE_MS);
    const late = new Promise<never>((_, reject) => {
      signal.onabort = () => reject(signal.reason);
    });
    const share = { user: userId, target: tldOf(name) };
    const asked = Promise.race([this.pool.run(share, () => this.ask(row, zones, signal), signal), late]);
    return asked.catch((error) => {
      if (error?.name !== 'TimeoutError') throw error;
      const words = `No answer about ${name} within ${PATIENCE_MS / 1000} s: its registry is slow, or is asked about`;
      throw new OutboundError('unavailable', `${words} many other names now; try again later`, false);
    });
  }

  /**
   * Takes a name that is due, so that no other process asks about it as well. A question that gets no result, as where
   * the process ends, is asked again after a while.
   * @returns false when another process was faster
   */
  claim(row: RegistrationRow): Promise<boolean> {
    return this.repository.claim(row, now(RETRY_MS));
  }

  /** Asks about a name; callers that ask while a question is in flight get its answer. */
  ask(row: RegistrationRow, zones: readonly Watched[], signal: AbortSignal): Promise<Outcome> {
    const running = this.asking.get(row.name);
    if (running) return running;
    const asked = this.look(row, zones, signal).finally(() => this.asking.delete(row.name));
    this.asking.set(row.name, asked);
    return asked;
  }

  /** Asks one question, and writes its outcome for the registration and its zones. */
  private async look(row: RegistrationRow, zones: readonly Watched[], signal: AbortSignal): Promise<Outcome> {
    const same = zones.find(({ name }) => name === row.name);
    const looked = await this.lookup.of(row.name, same, signal);
    // while a registry does not answer, what it said before counts more than what its registrar says
    const registry = row.source === 'rdap' || row.source === 'whois';
    const end = looked.end?.source === 'provider' && looked.failure && registry ? null : looked.end;
    const failures = looked.failure ? Number(row.failures) + 1 : 0;
    const checked_at = now();
    const error = looked.error ? storable(looked.error).slice(0, 255).toWellFormed() : null;
    const next_at = now(nextIn(end?.expires_at ?? row.expires_at, failures, looked.failure?.waitMs ?? 0));
    await this.repository.writeResult(row.id, { end, checked_at, next_at, failures, error });
    const ids = zones.map(({ id }) => id);
    await this.ends.follow(ids, { end, checked_at, error });
    if (looked.failure)
      this.logger.debug({ name: row.name, err: error }, 'the end of a registration was not found out');
    return { ...viewOf({ ...row, ...end, checked_at, error }), end, failure: looked.failure };
  }

  /** Has the zones of a name follow what is known of it. */
  async level({ expires_at, source, checked_at, error }: RegistrationRow, zones: readonly Watched[]): Promise<void> {
    if (!expires_at || !source || !checked_at) return;
    const behind = zones.filter(
      (zone) => isAutomatic(zone) && (zone.expires_at !== expires_at || zone.expires_source !== source),
    );
    const ids = behind.map(({ id }) => id);
    if (ids.length) await this.ends.follow(ids, { end: { expires_at, source }, checked_at, error });
  }

  /** A date set by hand was removed: the zones get what is known at once, and the registry is asked if that is old. */
  private async automatic(domain: string): Promise<void> {
    const name = this.registrable(domain);
    const row = name && (await this.repository.byName(name));
    if (!row) return;
    await this.level(row, await this.zonesOf(name));
    await this.repository.makeDue(row.id, now(), now(-DAY_MS));
  }

  private async zonesOf(name: string): Promise<Watched[]> {
    return (await this.ends.below(name)).filter((zone) => this.registrable(zone.name) === name);
  }
}

const viewOf = ({ name, expires_at, source, checked_at, error }: RegistrationRow): RegistrationView => ({
  name,
  expires_at,
  source,
  checked_at,
  error,
});

export const isAutomatic = ({ expires_source }: Watched): boolean => expires_source !== 'manual';

/** ms until the next question, moved by up to a tenth so that names added on one day do not stay together. */
function nextIn(end: string | null, failures: number, asked: number): number {
  const near = end !== null && Date.parse(end) - timeMs() < NEAR_DAYS * DAY_MS;
  const usual = near ? NEAR_MS : DAY_MS;
  const wait = failures ? Math.min(usual, RETRY_MS * 2 ** Math.min(failures - 1, 5)) : usual;
  return Math.max(asked, wait * (0.9 + 0.2 * Math.random()));
}
