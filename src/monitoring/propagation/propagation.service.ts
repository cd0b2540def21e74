import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RecordCache } from '../../cache/record-cache.js';
import { TYPE } from '../../dns/wire.js';
import type { DomainRow, OpenDomain } from '../../domains/domain-policy.js';
import { assertPublic } from '../../domains/zone-identity.js';
import { monotonicMs, now, sleep, timeoutSignal } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { type Asking, DnsClient, NoAnswer, type Question } from '../../platform/dns-client/dns-client.service.js';
import { Effort, ROUND } from '../../platform/dns-client/effort.js';
import { type Upstream, upstreamText } from '../../platform/dns-client/upstream.js';
import { RecordsService } from '../../records/records.service.js';
import { served } from '../../records/served.js';
import { type Delegation, DelegationFinder, type ZoneServer } from '../delegation/finder.service.js';
import { type Look, Looks } from '../delegation/looks.service.js';
import { NameServers, type Said, serialOf } from '../delegation/name-servers.service.js';
import { Resolvers } from '../delegation/resolvers.service.js';
import type { PropagationView, ServerView, SetView, Verdict } from './propagation.dto.js';
import { judge, type Wanted, wanted, wildcardsOf } from './published.js';

/** A record set of a domain. */
export interface SetName {
  host: string;
  type: string;
}

/** ms from one round of questions to the next, growing up to the last */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 4000;
const GROWTH = 1.5;
/** ms before the end in which no round begins any more: the last one is to be answered */
const LAST_LOOK_MS = 500;
const RESOLVER_MS = 3000;
/** ms for the resolvers, which are asked last, where nothing is left of the time */
const SLACK_MS = 1000;

type Zone = Pick<DomainRow, 'id' | 'name' | 'provider'>;

/** What a server answered, and whether it counts for the verdict. */
type Seen = ServerView & { counts: boolean };

/** What is known of a zone during one request: each answer is added as soon as it comes. */
interface Sight {
  /** null: not found yet */
  delegation: Delegation | null;
  servers: ZoneServer[];
  wants: Wanted[];
  said: Map<string, Seen>;
  serials: Map<ZoneServer, number | null>;
  /** by the last round that came to its end */
  last?: SetView[];
}

/** Checks whether changes made here are published in DNS. */
@Injectable()
export class Propagation implements OnModuleDestroy {
  /** requests that wait: each asks all servers of a zone every few seconds */
  private readonly pool = new FairPool('publication');
  private readonly questions = new FairPool('publication questions');
  /** what ends each request that waits */
  private readonly waiting = new Set<AbortController>();
  private stopping = false;

  constructor(
    private readonly dns: DnsClient,
    private readonly finder: DelegationFinder,
    private readonly servers: NameServers,
    private readonly resolvers: Resolvers,
    private readonly cache: RecordCache,
    private readonly looks: Looks,
    private readonly records: RecordsService,
  ) {}

  /**
   * Asks all servers of the zone for record sets, in rounds until all agree, `waitMs` are over, or `signal` aborts
   * since the client is gone. The wanted values are read from the cache in each round. When the time is over or the
   * service shuts down, the answer is the state so far.
   * @param userId who asks
   * @throws AppError 429001, 503001 the service shuts down before the first round was complete
   */
  async look(
    userId: number,
    zone: Zone,
    sets: readonly SetName[],
    waitMs: number,
    signal: AbortSignal,
  ): Promise<PropagationView> {
    if (this.stopping) throw ending();
    return this.pool.run({ user: userId, target: zone.id }, async () => {
      const stop = new AbortController();
      this.waiting.add(stop);
      return this.ask(zone, sets, waitMs, signal, stop.signal).finally(() => this.waiting.delete(stop));
    });
  }

  /** `look` at the record set of one record. @throws AppError also 404001, 409001 for a private zone */
  async ofRecord(
    userId: number,
    domain: OpenDomain,
    recordId: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<PropagationView> {
    const { host, type } = await this.records.get(domain, recordId);
    assertPublic(domain);
    return this.look(userId, domain, [{ host, type }], waitMs, signal);
  }

  /** Whether the user has no free slot for this zone. */
  isFull(userId: number, zone: Pick<Zone, 'id'>): boolean {
    return this.pool.isFull({ user: userId, target: zone.id });
  }

  /** Before the server waits for its requests: some would wait for minutes. */
  onModuleDestroy(): void {
    this.stopping = true;
    for (const stop of this.waiting) stop.abort();
  }

  private async ask(
    zone: Zone,
    sets: readonly SetName[],
    waitMs: number,
    gone: AbortSignal,
    stop: AbortSignal,
  ): Promise<PropagationView> {
    const signal = AbortSignal.any([gone, stop]);
    const sight: Sight = { delegation: null, servers: [], wants: [], said: new Map(), serials: new Map() };
    const end = monotonicMs() + waitMs;
    const over = waitMs ? timeoutSignal(waitMs) : null;
    try {
      // without a wait the resolvers are asked beside the servers
      const resolvers = waitMs ? null : this.resolved(zone, await this.wants(zone, sets), RESOLVER_MS, signal);
      const [views] = await Promise.all([
        this.rounds(zone, sets, sight, end, over ? AbortSignal.any([signal, over]) : signal).catch(async (error) => {
          if (signal.aborted || !over?.aborted) throw error;
          return this.cut(zone, sets, sight);
        }),
        resolvers,
      ]);
      const left = Math.ceil(Math.min(RESOLVER_MS, Math.max(SLACK_MS, end - monotonicMs())));
      return report(sight, views, await (resolvers ?? this.resolved(zone, sight.wants, left, signal)));
    } catch (error) {
      if (gone.aborted || !stop.aborted) throw error;
      if (!sight.last) throw ending();
      return report(sight, sight.last, []);
    }
  }

  /** Round after round of questions, until all servers agree or there is no time for another one. */
  private async rounds(
    zone: Zone,
    sets: readonly SetName[],
    sight: Sight,
    end: number,
    signal: AbortSignal,
  ): Promise<SetView[]> {
    let look = await this.looks.begin(zone, ROUND, signal);
    const delegation = await this.finder.find(zone, look);
    Object.assign(sight, { delegation, servers: delegation.servers });
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * GROWTH, LAST_PAUSE_MS)) {
      sight.wants = await this.wants(zone, sets);
      signal.throwIfAborted();
      // one that is silent does not hold up those that only the zone names
      const more = sight.last ? null : this.more(zone, delegation, sight, look);
      await Promise.all([...sight.servers.map((server) => this.server(zone, server, sight, look)), more]);
      // after an abort, names that could not be resolved mean nothing
      signal.throwIfAborted();
      sight.last = viewsOf(sight);
      const left = end - LAST_LOOK_MS - monotonicMs();
      if (left <= 0 || sight.last.every(({ verdict }) => verdict === 'published')) return sight.last;
      await sleep(Math.min(pause, left), { signal });
      signal.throwIfAborted();
      // each round is as large as it may be, and for whom the zone belongs to then
      look = await this.looks.begin(zone, ROUND, signal);
    }
  }

  /** The state when the time is over: where not even the servers were found, those that the records here name. */
  private async cut(zone: Zone, sets: readonly SetName[], sight: Sight): Promise<SetView[]> {
    if (!sight.wants.length) sight.wants = await this.wants(zone, sets);
    if (!sight.delegation) {
      const look = await this.looks.begin(zone, ROUND, AbortSignal.abort());
      sight.delegation = await this.finder.ofZone(zone, false, look);
      sight.servers = sight.delegation.servers;
    }
    return viewsOf(sight);
  }

  private async wants(zone: Zone, sets: readonly SetName[]): Promise<Wanted[]> {
    const hosts = new Set(sets.flatMap(({ host }) => [host, ...wildcardsOf(host)]));
    const rows = served(zone.provider, await this.cache.those(zone.id, 'host', [...hosts]));
    return sets.map(({ host, type }) => wanted(zone.name, host, type, rows));
  }

  /** Finds the servers that only the zone itself names, and asks them. */
  private async more(zone: Zone, delegation: Delegation, sight: Sight, look: Look): Promise<void> {
    const { more } = await this.servers.besides(zone, delegation, look);
    look.signal?.throwIfAborted();
    sight.servers = [...sight.servers, ...more];
    await Promise.all(more.map((server) => this.server(zone, server, sight, look)));
  }

  /** Asks a server for the SOA and, where it is not silent, for the sets that it did not have yet. */
  private async server(zone: Zone, server: ZoneServer, sight: Sight, look: Look): Promise<void> {
    const { wants, said, serials } = sight;
    const asked = wants.filter((want) => said.get(keyOf(server, want))?.status !== 'published');
    const first = await this.inShare(zone, server, { name: zone.name, type: TYPE.SOA }, look);
    serials.set(server, serialOf(first, zone.name));
    // each question to an unreachable server would hold a slot until its timeout
    const silent = !first.reply && !first.lame;
    await Promise.all(
      asked.map(async (want) => {
        const one = silent ? first : await this.inShare(zone, server, want.question, look);
        said.set(keyOf(server, want), seen(want, zone.name, one));
      }),
    );
  }

  private inShare(zone: Zone, server: ZoneServer, question: Question, look: Look): Promise<Said> {
    const ask = () => this.servers.one(zone.name, server, question, look);
    // a signal of its own, since hundreds of questions may listen to one
    return this.questions.run({ target: zone.id }, ask, look.signal && AbortSignal.any([look.signal]));
  }

  /** What each resolver answers for each set. */
  private async resolved(zone: Zone, wants: readonly Wanted[], timeoutMs: number, signal: AbortSignal) {
    const resolvers = await this.resolvers.all();
    const asking = { recurse: true, timeoutMs, signal, effort: new Effort(ROUND) };
    return Promise.all(
      wants.map((want) => Promise.all(resolvers.map((server) => this.resolver(zone, server, want, asking)))),
    );
  }

  private async resolver(zone: Zone, server: Upstream, want: Wanted, asking: Asking): Promise<ServerView> {
    const name = upstreamText(server);
    const view = { role: 'resolver' as const, name, address: server.transport === 'plain' ? server.host : null };
    const unreachable = { ...view, status: 'unreachable' as const, ttl: null, serial: null, latency_ms: null };
    try {
      const reply = await this.dns.ask(server, want.question, asking);
      if (reply.rcode !== 0 && reply.rcode !== 3) return { ...unreachable, error: `it answered rcode ${reply.rcode}` };
      // an answer of a resolver is never authoritative, and is no referral
      const said = judge(want, zone.name, { ...reply, authoritative: true });
      return { ...view, ...said, serial: null, latency_ms: reply.latencyMs, error: null };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { ...unreachable, error: error.message };
    }
  }
}

const ending = () => errors.notReady('ending', 5);

const keyOf = ({ name, address }: ZoneServer, { host, type, lines }: Wanted) =>
  JSON.stringify([name, address, host, type, lines.map((values) => [...values])]);

function seen(want: Wanted, zone: string, { server, reply, error, noRoute }: Said): Seen {
  const { name, address } = server;
  const view = { role: 'authoritative' as const, name, address, serial: null, counts: !noRoute };
  if (!reply) return { ...view, status: 'unreachable', ttl: null, latency_ms: null, error };
  return { ...view, ...judge(want, zone, reply), latency_ms: reply.latencyMs, error: null };
}

/** A server that has not answered yet. */
const unheard = (server: ZoneServer): Seen => ({
  role: 'authoritative',
  ...server,
  status: 'unreachable',
  ttl: null,
  serial: null,
  latency_ms: null,
  counts: true,
  error: 'no answer before the time was over',
});

function viewsOf({ wants, servers, said, serials }: Sight): SetView[] {
  return wants.map((want) => {
    const all = servers.map((server) => said.get(keyOf(server, want)) ?? unheard(server));
    return {
      host: want.host,
      type: want.type,
      verdict: verdictOf(all),
      servers: all.map(({ counts: _, ...view }, i) => ({
        ...view,
        serial: serials.get(servers[i] as ZoneServer) ?? null,
      })),
    };
  });
}

function report({ delegation }: Sight, views: readonly SetView[], resolved: readonly ServerView[][]): PropagationView {
  const sets = views.map((view, i) => ({ ...view, servers: [...view.servers, ...(resolved[i] ?? [])] }));
  const verdicts = new Set(sets.map(({ verdict }) => verdict));
  const [only] = verdicts;
  const verdict = verdicts.size === 1 ? (only as Verdict) : 'partial';
  const { found } = delegation as Delegation;
  return { verdict, found_by: found, sets, servers: sets[0]?.servers ?? [], checked_at: now() };
}

function verdictOf(servers: readonly Seen[]): Verdict {
  const counted = servers.filter(({ counts }) => counts);
  const are = (status: Seen['status']) => counted.filter((server) => server.status === status).length;
  if (are('unreachable') === counted.length) return 'unreachable';
  if (are('published') === counted.length) return 'published';
  return are('published') ? 'partial' : 'unpublished';
}
