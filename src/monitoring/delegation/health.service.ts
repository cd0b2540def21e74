import { Injectable } from '@nestjs/common';
import { TYPE } from '../../dns/wire.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { assertPublic } from '../../domains/zone-identity.js';
import { now } from '../../platform/common/clock.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { SURVEY } from '../../platform/dns-client/effort.js';
import { issuesOf, type Survey } from './advice.js';
import { mostOf, type OurZone } from './finder.service.js';
import type { ZoneHealthView } from './health.dto.js';
import { KnownDelegations } from './known.service.js';
import { type Look, Looks } from './looks.service.js';
import { NameServers, type Said, serialOf } from './name-servers.service.js';

/** Checks a zone from outside: who serves it, and whether delegation, servers and DNSSEC agree. */
@Injectable()
export class ZoneHealth {
  /** each asks all servers of a zone, and waits for those that do not answer */
  private readonly pool = new FairPool('zone health');
  /** checks in progress, by the zone's id */
  private readonly looking = new Map<number, Promise<ZoneHealthView>>();

  constructor(
    private readonly servers: NameServers,
    private readonly known: KnownDelegations,
    private readonly looks: Looks,
  ) {}

  /**
   * The state of a zone now; requests during a check share its result. It completes even when all clients are gone.
   * @param userId who asks
   * @param signal ends the wait for a slot
   * @throws AppError 409001 for a private zone, 429001
   */
  async look(zone: OurZone & Pick<DomainRow, 'apart'>, userId: number, signal?: AbortSignal): Promise<ZoneHealthView> {
    assertPublic(zone);
    const share = { user: userId, target: zone.id };
    return this.looking.get(zone.id) ?? this.pool.run(share, () => this.shared(zone), signal);
  }

  private shared(zone: OurZone): Promise<ZoneHealthView> {
    // another request may have begun while this one waited
    const running = this.looking.get(zone.id);
    if (running) return running;
    const view = this.view(zone).finally(() => this.looking.delete(zone.id));
    this.looking.set(zone.id, view);
    return view;
  }

  private async view(zone: OurZone): Promise<ZoneHealthView> {
    const survey = await this.survey(zone);
    const { delegation, own, said, serials } = survey;
    const issues = issuesOf(zone.name, survey);
    return {
      ok: issues.every(({ severity }) => severity === 'hint'),
      parent: delegation.parent === '' ? '.' : delegation.parent,
      found_by: delegation.found,
      ns: { parent: delegation.found === 'zone' ? [] : delegation.names, zone: own },
      ds: delegation.ds,
      servers: said.map(({ server, reply, error, lame }, i) => ({
        ...server,
        ok: reply !== null,
        lame,
        serial: serials[i] ?? null,
        latency_ms: reply?.latencyMs ?? null,
        error,
      })),
      issues,
      checked_at: now(),
    };
  }

  async survey(zone: OurZone, signal?: AbortSignal): Promise<Survey> {
    const look = await this.looks.begin(zone, SURVEY, signal);
    const servers = await this.servers.of(zone, look);
    const said = await this.servers.ask(zone.name, servers.all, { name: zone.name, type: TYPE.SOA }, look);
    const serials = said.map((one) => serialOf(one, zone.name));
    const alive = said.find(({ reply }) => reply)?.server;
    const [keys] = alive
      ? await this.servers.ask(zone.name, [alive], { name: zone.name, type: TYPE.DNSKEY }, look)
      : [];
    const before = await this.known.before(zone.id, servers.delegation);
    return { ...servers, said, serials, keys: keysOf(keys, look), before, cut: [...look.effort.cut] };
  }
}

function keysOf(said: Said | undefined, look: Look): Buffer[] | null {
  const keys = said?.reply?.sections[0].filter(({ type }) => type === TYPE.DNSKEY);
  if (!keys) return null;
  return mostOf(keys, 'DNSKEY', look).map(({ message, rdataStart, rdataEnd }) =>
    message.subarray(rdataStart, rdataEnd),
  );
}
