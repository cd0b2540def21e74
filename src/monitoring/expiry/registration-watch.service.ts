import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainEndsRepository, type Watched } from '../../domains/domain-ends.repository.js';
import { now, timeoutSignal } from '../../platform/common/clock.js';
import { FairPool, type Owner } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { tldOf } from './registrable.js';
import { type RegistrationRow, RegistrationsRepository } from './registrations.repository.js';
import { isAutomatic, Registrations } from './registrations.service.js';
import { RegistryServers } from './registry-servers.service.js';

const DAY_MS = 24 * 3_600_000;
const TICK_MS = 15 * 60_000;
/** ms for which one tick begins new questions */
const PIECE_MS = 10 * 60_000;
/** names that are asked about in one tick, with the same share for each top level domain */
const MOST = 2000;
/** names of one top level domain: one server does not answer more in a tick; and how many of them owners share */
const MOST_OF_ONE = 600;
const MOST_SHARED = 20_000;

/** Names of one owner below one top level domain, which are asked about one after the other. */
interface Line {
  user: Owner;
  tld: string;
  rows: RegistrationRow[];
}

/** Asks about each registrable name of all zones once a day. */
@Injectable()
export class RegistrationWatch implements OnModuleInit {
  private readonly pool = new FairPool('registry look-ups');

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: RegistrationsRepository,
    private readonly jobs: Jobs,
    private readonly ends: DomainEndsRepository,
    private readonly registrations: Registrations,
    private readonly servers: RegistryServers,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    if (this.config.expiry.lookups) this.jobs.schedule('expiry.registrations', TICK_MS, (signal) => this.tick(signal));
  }

  /** Asks about the names that are due, for a limited time. */
  async tick(signal: AbortSignal): Promise<void> {
    await this.servers.tidy();
    const due = await this.due();
    const zones = await this.follow(due, signal);
    await this.askAll(await this.lines(due, zones), zones, signal);
    signal.throwIfAborted();
  }

  /** Rows that are due, by name: the first ones of each top level domain. */
  private async due(): Promise<Map<string, RegistrationRow>> {
    const due = new Map<string, RegistrationRow>();
    const counts = new Map<string, number>();
    for await (const rows of this.repository.due(now())) {
      for (const row of rows) {
        const count = counts.get(tldOf(row.name)) ?? 0;
        if (count >= MOST_SHARED) continue;
        counts.set(tldOf(row.name), count + 1);
        due.set(row.name, row);
      }
    }
    return due;
  }

  /**
   * Adds rows for names of zones that have none, which are due at once, and has new zones follow what is known.
   * @returns the zones of the names that are due
   */
  private async follow(due: Map<string, RegistrationRow>, signal: AbortSignal): Promise<Map<string, Watched[]>> {
    const found = new Map<string, Watched[]>();
    let after = 0;
    for (;;) {
      signal.throwIfAborted();
      const page = await this.ends.watched(after);
      const last = page.at(-1);
      if (!last) return found;
      after = last.id;
      const zones = this.byName(page);
      await this.followSome(zones, due);
      for (const [name, own] of zones) if (due.has(name)) for (const zone of own) pushTo(found, name, zone);
    }
  }

  /** Zones by the name that is registered for them. */
  private byName(page: readonly Watched[]): Map<string, Watched[]> {
    const zones = new Map<string, Watched[]>();
    for (const zone of page) {
      const name = this.registrations.registrable(zone.name);
      if (name) pushTo(zones, name, zone);
    }
    return zones;
  }

  private async followSome(zones: ReadonlyMap<string, Watched[]>, due: Map<string, RegistrationRow>): Promise<void> {
    const names = [...zones.keys()];
    const known = new Map((await this.repository.byNames(names)).map((row) => [row.name, row]));
    const fresh = names.filter((name) => !known.has(name));
    await this.repository.add(fresh, now());
    // the rest of a large import is asked about in later ticks
    if (due.size < MOST) for (const row of await this.repository.byNames(fresh)) due.set(row.name, row);
    for (const [name, own] of zones) {
      const row = known.get(name);
      if (row) await this.registrations.level(row, own);
    }
  }

  /** Lines of names to ask about; removes names without a zone, and postpones those whose dates are all set by hand. */
  private async lines(
    due: ReadonlyMap<string, RegistrationRow>,
    zones: ReadonlyMap<string, Watched[]>,
  ): Promise<Line[]> {
    const lines = new Map<string, Line>();
    const gone: number[] = [];
    const byHand: number[] = [];
    for (const row of due.values()) {
      const own = zones.get(row.name);
      const zone = own?.find(isAutomatic);
      if (!zone) (own ? byHand : gone).push(row.id);
      else {
        const [user, tld] = [zone.owner_id, tldOf(row.name)];
        const line = lines.get(`${user} ${tld}`) ?? { user, tld, rows: [] };
        lines.set(`${user} ${tld}`, line);
        line.rows.push(row);
      }
    }
    await this.repository.removeAll(gone);
    await this.repository.postponeAll(byHand, now(DAY_MS));
    return [...lines.values()];
  }

  private async askAll(
    lines: readonly Line[],
    zones: ReadonlyMap<string, Watched[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const shares = sharesOf(lines.map(({ tld }) => tld));
    const enough = AbortSignal.any([signal, timeoutSignal(PIECE_MS)]);
    // other names of a registry that does not answer stay due: questions about them would fail as well
    const silent = new Set<string>();
    const one = async (tld: string, row: RegistrationRow) => {
      if (enough.aborted || silent.has(tld) || !(await this.registrations.claim(row))) return;
      const { failure } = await this.registrations.ask(row, zones.get(row.name) ?? [], signal);
      if (failure?.kind === 'limited' || failure?.kind === 'unavailable') silent.add(tld);
    };
    await Promise.all(
      lines.map(async ({ user, tld, rows }) => {
        for (const row of rows.slice(0, shares(tld))) {
          if (enough.aborted) return;
          await this.pool
            .run({ user, target: tld }, () => one(tld, row), enough)
            .catch((err) => {
              if (!enough.aborted)
                this.logger.warn({ name: row.name, err }, 'the end of a registration could not be looked at');
            });
        }
      }),
    );
  }
}

/** How many names of a line are asked about in one tick: each top level domain has a share, and in it each owner. */
function sharesOf(tlds: readonly string[]): (tld: string) => number {
  const counts = new Map<string, number>();
  for (const tld of tlds) counts.set(tld, (counts.get(tld) ?? 0) + 1);
  const ofTld = Math.min(MOST_OF_ONE, MOST / counts.size);
  return (tld) => Math.max(1, Math.floor(ofTld / (counts.get(tld) ?? 1)));
}

function pushTo<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list) list.push(one);
  else lists.set(key, [one]);
}
