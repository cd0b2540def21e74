import { Inject, Injectable } from '@nestjs/common';
import { RecordCache } from '../../cache/record-cache.js';
import { bareName } from '../../dns/names.js';
import { type Message, RCODE, type ReadRecord, readableTexts, TYPE } from '../../dns/wire.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { DnsClient } from '../../platform/dns-client/dns-client.service.js';
import { mayConnect } from '../../platform/outbound/guard.js';
import type { Look } from './looks.service.js';
import { Resolvers } from './resolvers.service.js';

/** A zone of this installation. */
export interface OurZone {
  id: number;
  name: string;
}

/** A name server of a zone, at one of its addresses. */
export interface ZoneServer {
  /** without final dot, lower case */
  name: string;
  /** null: the name has none, as far as can be found */
  address: string | null;
}

/** Who serves a zone, as far as the zones above it know. */
export interface Delegation {
  /**
   * who says so: the servers of the zone above; a resolver, where these could not be found or asked; the zone's own NS
   * records, where nobody else knows it (a zone of a private network)
   */
  found: 'parent' | 'resolver' | 'zone';
  /** false: neither the zone above nor a resolver could be asked, so it is unknown whether it is delegated */
  certain: boolean;
  /** the zone above, null where it was not found */
  parent: string | null;
  /** its name servers, sorted, without final dot, lower case */
  names: string[];
  /** one entry an address, or for a name without any */
  servers: ZoneServer[];
  /** DS at the zone above, in presentation form; null when it was not asked */
  ds: string[] | null;
}

const LIMIT_MS = 3000;
/** addresses of name servers of a zone that are asked: no real zone has more */
const MOST_SERVERS = 40;
/** names of name servers that are resolved */
const MOST_NAMES = 20;
/** NS, DS and DNSKEY records of a zone that are read: each DS is compared with each key */
export const MOST_KEPT = 64;
/** name servers of the zone above, asked one after the other until one answers */
const MOST_PARENTS = 4;

/** What the servers of the zone above may answer instead of a delegation. */
const NOBODY = 'nobody';
const SILENT = 'silent';

const isWord = ({ rcode }: Message): boolean => rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN;

/** The rdata of the records of an answer with a type and an owner. */
export const rdataIn = (records: readonly ReadRecord[], owner: string, type: number): string[] =>
  readableTexts(records.filter((record) => record.type === type && bareName(record.name) === owner));

/** The first of many records of a kind. What is left out is reported. */
export function mostOf<T>(all: T[], what: string, { effort }: Look): T[] {
  if (all.length > MOST_KEPT) effort.cut.add(`${all.length} ${what} records: ${MOST_KEPT} are read`);
  return all.slice(0, MOST_KEPT);
}

/** The name servers of a zone as records name them, sorted. */
export const namesIn = (records: readonly ReadRecord[], zone: string, look: Look): string[] =>
  mostOf([...new Set(rdataIn(records, zone, TYPE.NS).map(bareName))].sort(), 'NS', look);

/** Finds the servers of a zone by its delegation (RFC 1034 section 4.3.2). */
@Injectable()
export class DelegationFinder {
  constructor(
    private readonly dns: DnsClient,
    private readonly resolvers: Resolvers,
    private readonly cache: RecordCache,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Never throws but for the signal: a zone without a delegation has the servers that its own records name.
   * @param skip servers of the zone above to leave out at first, for a second opinion
   */
  async find(zone: OurZone, look: Look, skip = 0): Promise<Delegation> {
    const above = await this.above(zone.name, look);
    const said = above ? await this.fromParent(zone.name, above.servers, look, skip) : SILENT;
    if (above && said !== NOBODY && said !== SILENT)
      return { ...said, found: 'parent', parent: above.name, certain: true };
    const names = await this.fromResolver(zone.name, look);
    if (names === null || !names.length) return this.ofZone(zone, said === NOBODY || names !== null, look);
    const servers = await this.servers(names, new Map(), look);
    return { found: 'resolver', parent: null, names, ds: null, servers, certain: true };
  }

  /**
   * Addresses of name servers, those of `glue` first. Addresses that the outbound rules refuse are neither shown nor
   * asked: only an inner resolver may know them.
   */
  async servers(
    names: readonly string[],
    glue: ReadonlyMap<string, readonly string[]>,
    look: Look,
  ): Promise<ZoneServer[]> {
    const all = await Promise.all(
      names.slice(0, MOST_NAMES).map(async (name): Promise<ZoneServer[]> => {
        const known = glue.get(name);
        const found = known?.length ? known : await this.resolvers.addresses(name, look);
        const addresses = found.filter((address) => mayConnect(address, this.config.outboundDeny, look.allow));
        return addresses.length ? addresses.map((address) => ({ name, address })) : [{ name, address: null }];
      }),
    );
    const servers = all.flat();
    if (names.length > MOST_NAMES || servers.length > MOST_SERVERS)
      look.effort.cut.add(
        `${names.length} name servers with ${servers.length} addresses: of these ${MOST_NAMES} and ${MOST_SERVERS} are asked`,
      );
    return servers.slice(0, MOST_SERVERS);
  }

  /** The closest zone above this one that a resolver knows, with addresses of its servers. */
  private async above(zone: string, look: Look): Promise<{ name: string; servers: string[] } | null> {
    const labels = zone.split('.');
    for (let i = 1; i <= labels.length; i++) {
      const name = labels.slice(i).join('.');
      const reply = await this.resolvers.query({ name: name || '.', type: TYPE.NS }, look).catch(() => null);
      look.signal?.throwIfAborted();
      if (!reply) return null;
      const names = rdataIn(reply.sections[0], name, TYPE.NS).map(bareName);
      if (!names.length) continue;
      const servers: string[] = [];
      for (const server of names) {
        if (servers.length >= MOST_PARENTS) break;
        servers.push(...(await this.resolvers.addresses(server, look)));
      }
      return servers.length ? { name, servers: servers.slice(0, MOST_PARENTS) } : null;
    }
    return null;
  }

  /** The answer of a server of the zone above: a delegation, or authoritatively that there is none. */
  private async fromParent(zone: string, addresses: readonly string[], look: Look, skip = 0) {
    const turned = [...addresses.slice(skip), ...addresses.slice(0, skip)];
    for (const host of turned) {
      const ask = (type: number) =>
        this.dns
          .ask(
            { transport: 'plain', host, port: 53, url: null },
            { name: zone, type },
            { recurse: false, timeoutMs: LIMIT_MS, ...look },
          )
          .catch(() => null);
      const reply = await ask(TYPE.NS);
      look.signal?.throwIfAborted();
      if (!reply || !isWord(reply)) continue;
      // a referral; or, where the server has both zones, the zone's own
      const told = [...reply.sections[0], ...(reply.authoritative ? [] : reply.sections[1])];
      const names = namesIn(told, zone, look);
      if (!names.length && !reply.authoritative) continue;
      // a private zone below a public one
      if (!names.length) return NOBODY;
      const ds = await ask(TYPE.DS);
      return {
        names,
        servers: await this.servers(names, glueIn(reply), look),
        ds:
          ds?.rcode === RCODE.NOERROR && ds.authoritative
            ? mostOf(rdataIn(ds.sections[0], zone, TYPE.DS).sort(), 'DS', look)
            : null,
      };
    }
    return SILENT;
  }

  /** Null: no resolver answers. */
  private async fromResolver(zone: string, look: Look): Promise<string[] | null> {
    const reply = await this.resolvers.query({ name: zone, type: TYPE.NS }, look).catch(() => null);
    look.signal?.throwIfAborted();
    return reply ? namesIn(reply.sections[0], zone, look) : null;
  }

  /** The servers that the zone's own records here name. */
  async ofZone({ id, name: zone }: OurZone, certain: boolean, look: Look): Promise<Delegation> {
    const apex = await this.cache.those(id, 'host', ['@']);
    const names = [
      ...new Set(apex.filter(({ type, enabled }) => type === 'NS' && enabled).map((row) => bareName(row.value))),
    ];
    const inside = new Map(
      names.filter((name) => name.endsWith(`.${zone}`)).map((n) => [n.slice(0, -zone.length - 1), n]),
    );
    const glue = new Map<string, string[]>();
    for (const { host, type, value, enabled } of await this.cache.those(id, 'host', [...inside.keys()])) {
      const server = inside.get(host);
      if (server && enabled && (type === 'A' || type === 'AAAA'))
        glue.set(server, [...(glue.get(server) ?? []), value]);
    }
    names.sort();
    return { found: 'zone', certain, parent: null, names, ds: null, servers: await this.servers(names, glue, look) };
  }
}

/** Addresses that a referral brings along. */
function glueIn({ sections }: Message): Map<string, string[]> {
  const glue = new Map<string, string[]>();
  for (const record of sections[2]) {
    if (record.type !== TYPE.A && record.type !== TYPE.AAAA) continue;
    const name = bareName(record.name);
    const known = glue.get(name);
    if (known) known.push(...readableTexts([record]));
    else glue.set(name, readableTexts([record]));
  }
  return glue;
}
