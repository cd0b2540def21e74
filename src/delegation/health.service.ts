import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { TYPE } from '../dns/wire.js';
import { issuesOf, type Survey } from './advice.js';
import type { OurZone } from './finder.service.js';
import type { ZoneHealthView } from './health.dto.js';
import { KnownDelegations } from './known.service.js';
import { NameServers, type Said, serialOf } from './name-servers.service.js';

/** zones that this process looks at at once: each asks all servers of a zone, and waits for those that are dead */
const MOST_AT_ONCE = 20;

/** Looks at a zone from outside: who serves it, and whether all of it fits together. */
@Injectable()
export class ZoneHealth {
  /** looks under way, by the zone's id */
  private readonly looking = new Map<number, Promise<ZoneHealthView>>();

  constructor(
    private readonly servers: NameServers,
    private readonly known: KnownDelegations,
  ) {}

  /**
   * What there is to see now; who asks meanwhile sees the same. It goes to its end even where nobody waits any more.
   * @throws AppError 429001
   */
  async look(zone: OurZone): Promise<ZoneHealthView> {
    const running = this.looking.get(zone.id);
    if (running) return running;
    if (this.looking.size >= MOST_AT_ONCE) throw errors.tooMany('Too many domains are being looked at', 5);
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
    const servers = await this.servers.of(zone, signal);
    const said = await this.servers.ask(zone.name, servers.all, { name: zone.name, type: TYPE.SOA }, signal);
    const serials = said.map((one) => serialOf(one, zone.name));
    const alive = said.find(({ reply }) => reply)?.server;
    const [keys] = alive
      ? await this.servers.ask(zone.name, [alive], { name: zone.name, type: TYPE.DNSKEY }, signal)
      : [];
    const before = await this.known.before(zone.id, servers.delegation);
    return { ...servers, said, serials, keys: keysOf(keys), before };
  }
}

const keysOf = (said: Said | undefined): Buffer[] | null =>
  said?.reply?.sections[0]
    .filter(({ type }) => type === TYPE.DNSKEY)
    .map(({ message, rdataStart, rdataEnd }) => message.subarray(rdataStart, rdataEnd)) ?? null;
