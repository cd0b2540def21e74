import { Injectable } from '@nestjs/common';
import { bareName } from '../../dns/names.js';
import { RCODE, TYPE } from '../../dns/wire.js';
import { DnsClient, NoAnswer, type Question, type Reply } from '../../platform/dns-client/dns-client.service.js';
import {
  type Delegation,
  DelegationFinder,
  namesIn,
  type OurZone,
  rdataIn,
  type ZoneServer,
} from './finder.service.js';
import type { Look } from './looks.service.js';

/** What a server of a zone answered. */
export interface Said {
  server: ZoneServer;
  /** an authoritative answer (NOERROR or NXDOMAIN with AA), or its referral to a zone below; null: none */
  reply: Reply | null;
  /** why there is none */
  error: string | null;
  /** it answers, but not for this zone */
  lame: boolean;
  /** this machine has no route to such addresses, which means nothing for the server */
  noRoute: boolean;
  /** it answers with more than is read of it */
  tooMuch: boolean;
}

/** A zone's servers: those that the zone above names, and those that the zone itself names besides. */
export interface Servers {
  delegation: Delegation;
  /** NS in the zone, as its servers answer, sorted; null where none of them answered */
  own: string[] | null;
  all: ZoneServer[];
}

const LIMIT_MS = 3000;

/** The serial of the SOA in an answer (RFC 1035 section 3.3.13), null when there is none. */
export function serialOf({ reply }: Said, zone: string): number | null {
  const [soa] = rdataIn(reply?.sections[0] ?? [], zone, TYPE.SOA);
  return soa ? Number(soa.split(' ')[2]) : null;
}

/** Asks the authoritative servers of a zone. */
@Injectable()
export class NameServers {
  constructor(
    private readonly dns: DnsClient,
    private readonly finder: DelegationFinder,
  ) {}

  /** All of them: NS in the zone rank above those at its parent (RFC 2181 section 5.4.1), so both are asked. */
  async of(zone: OurZone, look: Look): Promise<Servers> {
    const delegation = await this.finder.find(zone, look);
    const { own, more } = await this.besides(zone, delegation, look);
    return { delegation, own, all: [...delegation.servers, ...more] };
  }

  /** Those that only the zone itself names, by the answers of the delegated ones. */
  async besides(
    zone: OurZone,
    delegation: Delegation,
    look: Look,
  ): Promise<{ own: Servers['own']; more: ZoneServer[] }> {
    const said = await this.ask(zone.name, delegation.servers, { name: zone.name, type: TYPE.NS }, look);
    const records = said.flatMap(({ reply }) => reply?.sections[0] ?? []);
    const own = namesIn(records, zone.name, look);
    const more = own.filter((name) => !delegation.names.includes(name));
    return { own: own.length ? own : null, more: await this.finder.servers(more, new Map(), look) };
  }

  /** Puts a question to each of them at once, at every address. Never throws but for the signal. */
  ask(zone: string, servers: readonly ZoneServer[], question: Question, look: Look): Promise<Said[]> {
    return Promise.all(servers.map((server) => this.one(zone, server, question, look)));
  }

  /** Puts a question to one of them. Never throws but for the signal. */
  async one(zone: string, server: ZoneServer, question: Question, look: Look): Promise<Said> {
    const silent = { server, reply: null, lame: false, noRoute: false, tooMuch: false };
    if (!server.address) return { ...silent, error: 'its name has no address' };
    try {
      const reply = await this.dns.ask({ transport: 'plain', host: server.address, port: 53, url: null }, question, {
        recurse: false,
        timeoutMs: LIMIT_MS,
        ...look,
      });
      const error = refersBelow(reply, zone) ? null : lameness(reply);
      return error ? { ...silent, error, lame: true } : { ...silent, reply, error: null };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { ...silent, error: error.message, noRoute: error.noRoute, tooMuch: error.tooMuch };
    }
  }
}

/** Whether it is a referral to a zone below this one. */
const refersBelow = ({ rcode, sections }: Reply, zone: string): boolean =>
  rcode === RCODE.NOERROR &&
  sections[1].some((record) => record.type === TYPE.NS && bareName(record.name).endsWith(`.${zone}`));

const WORDS: Record<number, string> = {
  [RCODE.SERVFAIL]: 'SERVFAIL: it cannot serve the zone now (expired, or not loaded)',
  [RCODE.REFUSED]: 'REFUSED: it does not serve the zone',
};

/** Why an answer is none of a server of the zone; null when it is one. */
function lameness({ rcode, authoritative }: Reply): string | null {
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return WORDS[rcode] ?? `it answered rcode ${rcode}`;
  return authoritative ? null : 'its answer is not authoritative: it does not serve the zone';
}
