import { Injectable } from '@nestjs/common';
import { signedIn } from '../access/access.js';
import type { Connection } from '../accounts/provider-connections.js';
import type { Actor } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { type Edit, Places, upsert } from '../changes/edits/edit.js';
import { ChangeEngine } from '../changes/engine.service.js';
import { ChangeGate } from '../changes/gate/change-gate.service.js';
import { Waits } from '../changes/gate/waits.js';
import { RecordSyncService } from '../changes/in-doubt/record-sync.service.js';
import type { Edits } from '../changes/planner.js';
import { WaitingPlans } from '../changes/plans/waiting-plans.service.js';
import { namesAbove, relativeName } from '../dns/names.js';
import { systemAccess } from '../domains/access-rights.js';
import { DomainPolicy, type DomainRow, type OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { AppError, errors, fieldError } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { CODES } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { Db } from '../platform/database/db.js';
import { clipped } from '../platform/outbound/outbound-error.js';
import { ProviderError } from '../providers/kit/http/errors.js';
import { providerOf } from '../providers/registry.js';
import type { TunnelApi } from '../providers/tunnels.js';
import type { TunnelRow } from './tunnels.repository.js';
import type { Without } from './unmanaged.js';

/** Hostnames by the domains that they lie in, and those that lie in none. */
export interface NamePlaces {
  zones: { domain: DomainRow; hostnames: string[] }[];
  unmanaged: Without[];
}

/** The account at the provider that has a tunnel. */
interface Account {
  api: TunnelApi;
  owner: string;
}

/** The tunnel that CNAMEs are changed for, and in whose name. */
export type Tunnel = Pick<TunnelRow, 'name' | 'mark' | 'maker_id' | 'maker_token_id'>;

type Keeper = 'ours' | 'foreign' | 'gone';

/** A hostname at which another record is in the way. */
export interface Conflict {
  hostname: string;
  record: Pick<StoredRecord, 'id' | 'type' | 'value'>;
}

/**
 * The CNAMEs of the hostnames of tunnels. Each change of one is a change of a record like any other; only CNAMEs to the
 * tunnel itself are ever changed or deleted.
 */
@Injectable()
export class Cnames {
  constructor(
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly engine: ChangeEngine,
    private readonly places: Places,
    private readonly cache: RecordCache,
    private readonly sync: RecordSyncService,
    private readonly gate: ChangeGate,
    private readonly waiting: WaitingPlans,
    private readonly db: Db,
    private readonly logger: Logger,
  ) {}

  /**
   * Where hostnames lie: in the longest zone of the same account that is a domain here. With `api`, in one that is at
   * the provider in the account of the tunnel, too: a CNAME to it works nowhere else.
   */
  async find(accountId: number, hostnames: readonly string[], at?: Account): Promise<NamePlaces> {
    const above = (hostname: string) => namesAbove(hostname.replace(/^\*\./, ''));
    const zones = new Map<number, { domain: DomainRow; hostnames: string[] }>();
    const unmanaged: Without[] = [];
    const known = await this.domains.named(accountId, [...new Set(hostnames.flatMap(above))]);
    const byName = new Map(known.map((domain) => [domain.name, domain]));
    const kept = new Map<number, Keeper>();
    for (const hostname of hostnames) {
      const name = above(hostname).find((one) => byName.has(one));
      const domain = name === undefined ? undefined : byName.get(name);
      if (!domain) {
        unmanaged.push([hostname, 'none']);
        continue;
      }
      const where = kept.get(domain.id) ?? (await whoKeeps(domain, at));
      kept.set(domain.id, where);
      if (where !== 'ours') unmanaged.push([hostname, where, domain.name.split('.').length]);
      else {
        const zone = zones.get(domain.id) ?? { domain, hostnames: [] };
        zone.hostnames.push(hostname);
        zones.set(domain.id, zone);
      }
    }
    return { zones: [...zones.values()], unmanaged };
  }

  /**
   * Hostnames with records beside which no CNAME to `target` can be, as the provider has them now.
   * @param target null: no tunnel has one yet
   * @throws ProviderError when the records cannot be read
   */
  async conflicts({ zones }: NamePlaces, target: string | null): Promise<Conflict[]> {
    const found: Conflict[] = [];
    for (const { domain, hostnames } of zones) {
      // records that were made there since the last synchronisation count, too
      await this.sync.refresh(domain, 'system');
      const hosts = hostnames.map((hostname) => hostOf(domain, hostname));
      const rows = await this.cache.those(domain.id, 'host', hosts);
      for (const [i, hostname] of hostnames.entries()) {
        const beside = rows.filter(({ host, enabled }) => host === hosts[i] && enabled);
        const flat = providerOf(domain.provider)?.capabilities.apexCname && hosts[i] === '@';
        const inTheWay = flat ? beside.filter(({ type }) => /^(A|AAAA|CNAME|ALIAS)$/.test(type)) : beside;
        const other = inTheWay.find(({ type, value }) => type !== 'CNAME' || value !== target);
        if (other) found.push({ hostname, record: other });
      }
    }
    return found;
  }

  /** Those of the hostnames that have no CNAME to the tunnel, as far as it is known here. */
  async missing({ zones, unmanaged }: NamePlaces, target: string): Promise<NamePlaces> {
    const left: NamePlaces = { zones: [], unmanaged };
    for (const { domain, hostnames } of zones) {
      const hosts = hostnames.map((hostname) => hostOf(domain, hostname));
      const rows = await this.cache.those(domain.id, 'host', hosts);
      const has = ({ type, value, enabled }: StoredRecord) => enabled && type === 'CNAME' && value === target;
      const without = hostnames.filter((_, i) => !rows.some((row) => row.host === hosts[i] && has(row)));
      if (without.length) left.zones.push({ domain, hostnames: without });
    }
    return left;
  }

  /** The hostnames without a conflict; the others are unmanaged. */
  free({ zones, unmanaged }: NamePlaces, conflicts: readonly Conflict[]): NamePlaces {
    const others = conflicts.map(({ hostname, record: { type, id } }): Without => [hostname, 'has', type, id]);
    const names = new Set(others.map(([hostname]) => hostname));
    const left = zones.map(({ domain, hostnames }) => ({
      domain,
      hostnames: hostnames.filter((one) => !names.has(one)),
    }));
    return { zones: left.filter(({ hostnames }) => hostnames.length), unmanaged: [...unmanaged, ...others] };
  }

  /** @throws AppError 423002 where one of the zones is frozen */
  assertOpen(...places: NamePlaces[]): void {
    for (const { domain } of places.flatMap(({ zones }) => zones)) this.gate.assertOpen(domain);
  }

  /**
   * Makes the CNAMEs that are not there yet.
   * @returns the hostnames whose CNAMEs wait for an approval
   * @throws AppError, ProviderError at the first zone that refuses
   */
  async make(actor: Actor, { zones }: NamePlaces, target: string, tunnel: Tunnel): Promise<Without[]> {
    const waiting: Without[] = [];
    for (const { domain, hostnames } of zones) {
      const open = await this.open(actor, domain);
      const place = await this.places.of(open);
      const proxied = place.definition.capabilities.proxy || undefined;
      const edits = hostnames.map((hostname) =>
        upsert(place, { host: `${hostname}.`, type: 'CNAME', value: `${target}.`, proxied }),
      );
      const plan = await this.write(actor, open, edits, tunnel, '+', place.connection);
      if (plan !== null) waiting.push(...hostnames.map((hostname): Without => [hostname, 'waits', plan]));
    }
    return waiting;
  }

  /**
   * As `make`, but a zone that refuses its CNAMEs for good, such as for its quota, does not stop the others.
   * @returns the hostnames without a CNAME for that reason, or since they wait for an approval
   * @throws AppError, ProviderError where it may go well another time
   */
  async makeWhereTaken(actor: Actor, { zones }: NamePlaces, target: string, tunnel: Tunnel): Promise<Without[]> {
    const without: Without[] = [];
    for (const zone of zones) {
      try {
        without.push(...(await this.make(actor, { zones: [zone], unmanaged: [] }, target, tunnel)));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.logger.warn({ domain: zone.domain.name, err: error.message }, 'CNAMEs of a tunnel are refused');
        without.push(...zone.hostnames.map((hostname): Without => [hostname, 'unmade']));
      }
    }
    return without;
  }

  /** What waits to be made there for a tunnel is not wanted any more. */
  async outdate({ zones }: NamePlaces, tunnel: Tunnel): Promise<void> {
    await this.db.transaction(async (manager) => {
      for (const { domain } of zones) await this.waiting.outdate(domain.id, subjectOf(tunnel, '+'), manager);
    });
  }

  /** Deletes those that still point to the tunnel, at once or when that is approved. @throws AppError, ProviderError */
  async remove(actor: Actor, { zones }: NamePlaces, target: string, tunnel: Tunnel): Promise<void> {
    for (const { domain, hostnames } of zones) {
      const open = await this.open(actor, domain);
      const { connection } = await this.places.of(open);
      const hosts = hostnames.map((hostname) => hostOf(domain, hostname));
      const ours = ({ host, type, value, read_only }: StoredRecord) =>
        hosts.includes(host) && type === 'CNAME' && value === target && !read_only;
      // `*`: only if the provider still has what is known of it
      const of = (rows: readonly StoredRecord[]): Edit[] =>
        rows.filter(ours).map(({ id }) => ({ op: 'delete', id, ifMatch: '*' }));
      try {
        await this.write(actor, open, { hosts, of }, tunnel, '-', connection);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== CODES.precondition.code) throw error;
        // it was changed at the provider: what it is now is judged once more
        await this.sync.refresh(domain, 'system');
        await this.write(actor, open, { hosts, of }, tunnel, '-', connection);
      }
    }
  }

  private async open(actor: Actor, domain: DomainRow): Promise<OpenDomain> {
    if (actor === 'system') return { ...domain, access: systemAccess };
    return this.policy.open(signedIn(actor), domain.id, 'records');
  }

  /** @returns the plan as which the list waits for an approval; null: it is done */
  private async write(
    actor: Actor,
    domain: OpenDomain,
    edits: Edits,
    tunnel: Tunnel,
    what: '+' | '-',
    connection: Connection,
  ): Promise<number | null> {
    const { maker_id, maker_token_id } = tunnel;
    const options = {
      ...{ door: 'tunnel' as const, comment: clipped(`tunnel ${tunnel.name}`, 255), atomic: true },
      ...{ maker: { maker_id, maker_token_id }, subject: subjectOf(tunnel, what) },
    };
    const done = await this.engine.whole(actor, domain, edits, options, connection).catch((error: unknown) => {
      if (error instanceof Waits) return error;
      throw error;
    });
    if (done instanceof Waits) return done.planId;
    const { results } = done;
    for (const result of results) {
      if (result.ok) continue;
      const part = results.some((one) => one.ok && one.written);
      throw part && result.error instanceof ProviderError ? result.error.applied(true) : result.error;
    }
    return null;
  }
}

/** What a list waits as: CNAMEs of a tunnel that are made, or that go. */
const subjectOf = ({ mark }: Tunnel, what: '+' | '-'): string => `tunnel|${mark}|${what}`;

/** Whether a zone is in the account of the tunnel, as the provider has it now. @throws ProviderError */
async function whoKeeps({ status, remote_id }: DomainRow, at: Account | undefined): Promise<Keeper> {
  // the provider cannot be asked about a zone that is gone, and the other hostnames must not fail for it
  if (status === 'missing') return 'gone';
  if (!at) return 'ours';
  try {
    const keeper = await at.api.ownerOf(remote_id);
    return keeper === null || keeper === at.owner ? 'ours' : 'foreign';
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return 'gone';
    throw error;
  }
}

/** Whether the same write would be refused once more, and this one changed nothing. */
const isRefusal = (error: unknown): error is AppError =>
  error instanceof ProviderError
    ? error.kind === 'rejected' && !error.mayHaveApplied
    : error instanceof AppError && error.code === CODES.validation.code;

const hostOf = (domain: DomainRow, hostname: string): string => relativeName(hostname, domain.name) as string;

const inTheWay = ({ hostname, record: { type, value, id } }: Conflict): FieldText =>
  say('{hostname} has a {type} record already: {value} (id {id})', { hostname, type, value: clipped(value, 100), id });

/** 409001 with each hostname that is taken, and by what. */
export function taken(conflicts: readonly Conflict[], ingress: readonly { hostname?: string }[]): AppError {
  const list = conflicts.map((conflict) => {
    const at = ingress.findIndex((rule) => rule.hostname === conflict.hostname);
    return fieldError(`ingress.${at}.hostname`, inTheWay(conflict), 'conflict', { id: conflict.record.id });
  });
  const words = list.map(({ message }) => message).join('; ');
  return errors.conflict('hostnames_taken', { words }, { errors: list });
}

export const namesIn = ({ zones }: NamePlaces): string[] => zones.flatMap(({ hostnames }) => hostnames);
