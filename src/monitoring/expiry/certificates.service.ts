import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { relativeName } from '../../dns/names.js';
import { type DomainAccess, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { now, timeoutSignal } from '../../platform/common/clock.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import type { PageQuery } from '../../platform/common/paging.dto.js';
import { turn } from '../../platform/common/turns.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { resolveAllAllowed } from '../../platform/outbound/guard.js';
import { bySystem } from '../../platform/outbound/lookup.js';
import { certificateOf, type Seen } from './certificate.js';
import { CertificatesRepository, type KnownHost, type WatchedDomain } from './certificates.repository.js';
import type { CertificateView } from './expiry.dto.js';

const TICK_MS = 3_600_000;
/** ms after which a host is looked at again; a little less than a day, so that ticks do not push it to the next */
const AGAIN_MS = 23 * 3_600_000;
/** hosts of one domain */
const MOST = 50;
/** ms for which one tick begins new looks: hosts that are left are due at the next tick */
const PIECE_MS = 45 * 60_000;
/** addresses of a host that are tried: the first that answers counts */
const TRIED = 3;
/** domains whose hosts are read at once */
const DOMAINS = 50;
/** hosts that are looked at in one tick */
const MOST_AT_ONCE = 2000;

/** A host that is due. */
interface Host {
  /** of its row; null: it has none yet */
  id: number | null;
  domain_id: number;
  owner_id: number | null;
  host: string;
  port: number;
  checked_at: string | null;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Whether the certificate of a host, a full name, may be seen: an address or an alias of it may be read. */
export const maySeeHost = (access: DomainAccess, domain: Pick<OpenDomain, 'id' | 'name'>, name: string): boolean => {
  const host = relativeName(name, domain.name) ?? name;
  return ['A', 'AAAA', 'CNAME'].some(
    (type) => judgeRecord(access, domain.id, 'read', { host, type, value: null, ttl: 0 }).allowed,
  );
};

/** When certificates of hosts end, for domains with `watch_certificates`. */
@Injectable()
export class Certificates implements OnModuleInit {
  private readonly pool = new FairPool('certificate looks');

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly repository: CertificatesRepository,
    private readonly jobs: Jobs,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('expiry.certificates', TICK_MS, (signal) => this.tick(signal));
  }

  /** What the hosts of a domain showed; a token with rules sees those whose addresses or aliases it may read. */
  async list(domain: OpenDomain, query: PageQuery): Promise<{ total: number; list: CertificateView[] }> {
    const hosts = domain.access.rules ? await this.readable(domain) : null;
    return this.repository.list(domain.id, hosts, query);
  }

  private async readable({ id, name, access }: OpenDomain): Promise<string[]> {
    const hosts = await this.repository.hosts(id);
    return hosts.filter((host) => maySeeHost(access, { id, name }, host));
  }

  /** Looks at the hosts that are due. */
  async tick(signal: AbortSignal): Promise<void> {
    await this.repository.removeUnwatched();
    const enough = AbortSignal.any([signal, timeoutSignal(PIECE_MS)]);
    await Promise.all(
      (await this.due()).map((host) =>
        this.pool
          .run({ user: host.owner_id, target: host.domain_id }, () => this.look(host), enough)
          // a failure must not keep this tick from looking at the other hosts
          .catch((err) => {
            if (!enough.aborted) this.logger.warn({ host: host.host, err }, 'a certificate could not be looked at');
          }),
      ),
    );
    signal.throwIfAborted();
  }

  /**
   * Hosts of watched domains that are due, known ones before new ones, in turns over owners, and of each owner first
   * those that were looked at the longest ago. Domain by domain: a statement over all of them would hold SQLite.
   */
  private async due(): Promise<Host[]> {
    const before = now(-AGAIN_MS);
    const owners = new Map<number | null, Host[]>();
    const order = (a: Host, b: Host) => compare(a.checked_at ?? '', b.checked_at ?? '') || a.domain_id - b.domain_id;
    for (let last = 0; ; ) {
      const domains = await this.repository.watched(last, DOMAINS);
      if (!domains.length) break;
      last = domains.at(-1)?.id as number;
      for (const host of await this.hostsOf(domains)) {
        if (host.checked_at !== null && host.checked_at > before) continue;
        const own = owners.get(host.owner_id) ?? [];
        own.push(host);
        // more than this of one owner are not looked at anyway
        owners.set(host.owner_id, own.length > 2 * MOST_AT_ONCE ? own.sort(order).slice(0, MOST_AT_ONCE) : own);
      }
      await turn();
    }
    return [...owners.values()]
      .flatMap((own) => own.sort(order).map((host, place) => ({ host, place })))
      .sort((a, b) => a.place - b.place || order(a.host, b.host))
      .slice(0, MOST_AT_ONCE)
      .map(({ host }) => host);
  }

  /** The hosts of some domains that are watched, without those that have no records any more. */
  private async hostsOf(domains: readonly WatchedDomain[]): Promise<Host[]> {
    const ids = domains.map(({ id }) => id);
    await this.repository.removeGone(ids);
    const all = new Map<number, KnownHost[]>();
    for (const known of await this.repository.known(ids))
      all.set(known.domain_id, [...(all.get(known.domain_id) ?? []), known]);
    const hosts: Host[] = [];
    for (const { id: domain_id, owner_id, name, port } of domains) {
      const known = (all.get(domain_id) ?? []).slice(0, MOST);
      const seen = new Set(known.map(({ host }) => host));
      const more = known.length < MOST ? await this.repository.hostsOf(domain_id, MOST + known.length) : [];
      const fresh = more.map((host) => (host === '@' ? name : `${host}.${name}`)).filter((host) => !seen.has(host));
      const added = fresh.slice(0, MOST - known.length).map((host) => ({ id: null, host, checked_at: null }));
      for (const { id, host, checked_at } of [...known, ...added])
        hosts.push({ id, domain_id, owner_id, host, port: Number(port), checked_at });
    }
    return hosts;
  }

  private async look(host: Host): Promise<void> {
    const result = { ...(await this.seen(host)), checked_at: now() };
    if (host.id === null) await this.repository.add(host.domain_id, host.host, result);
    else await this.repository.write(host.id, result);
  }

  private async seen({ host, port }: Host): Promise<Seen | { error: string }> {
    const { outboundDeny, outboundAllow } = this.config;
    let error = '';
    try {
      const addresses = await resolveAllAllowed(host, outboundDeny, outboundAllow, (name) => bySystem(name, false));
      for (const address of addresses.slice(0, TRIED)) {
        try {
          return await certificateOf(host, address, port);
        } catch (failure) {
          const { code, message } = failure as { code?: string; message: string };
          error = `${address} port ${port}: ${code ?? message}`;
        }
      }
    } catch (failure) {
      error = (failure as Error).message;
    }
    return { error: error.slice(0, 255).toWellFormed() };
  }
}
