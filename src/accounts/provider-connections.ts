import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type Cancel, every, now, within } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { say } from '../platform/common/words/field-text.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG, SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { outboundAgent } from '../platform/outbound/agent.js';
import { Traces } from '../platform/traces/traces.js';
import { type Connected, connectProvider, rateLimiterOf } from '../providers/connect.js';
import { ProviderError } from '../providers/kit/http/errors.js';
import type { RateLimiter } from '../providers/kit/http/rate-limiter.js';
import type { Credentials, Installation, ProviderDefinition } from '../providers/provider.js';
import { PROVIDERS, providerOf } from '../providers/registry.js';
import { serverKey } from '../providers/server-key.js';
import { readCredentials } from './credentials.js';
import { DnsAccountsRepository } from './dns-accounts.repository.js';
import { AccountPauses } from './pauses.service.js';
import { ProviderSessions } from './provider-sessions.service.js';

/** ms that a shutdown waits for answers of providers */
const STOP_WAIT_MS = 2_000;
/** ms between two checks whether another replica has ended a pause, for requests that wait here */
const LOOK_MS = 2_000;
const CONTEXT = 'dns_accounts.credentials';
const DROPPED = 'The credentials of this account were dropped, since their key was lost: enter them anew';

/** A live provider and what it declares. */
export interface Connection {
  provider: Connected;
  definition: ProviderDefinition;
  /** see `serverKey` */
  server: string;
  /** the account's credentials as they were stored when it was made; absent of those that are not stored */
  sealed?: string;
}

/** A connection that is kept, with the pause that it knows as its account's row has it. */
interface Live {
  sealed: string;
  connection: Connection;
  limiter: RateLimiter;
  pausedUntil: string | null;
}

/**
 * Turns stored accounts into live providers, and keeps them while the credentials stay the same: limits and connections
 * live in them.
 */
@Injectable()
export class ProviderConnections implements OnApplicationShutdown {
  private readonly live = new Map<number, Live>();
  private stopLooking: Cancel | undefined;
  private readonly agent;

  constructor(
    private readonly accounts: DnsAccountsRepository,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
    private readonly pauses: AccountPauses,
    private readonly sessions: ProviderSessions,
    private readonly metrics: Metrics,
    private readonly traces: Traces,
    private readonly logger: Logger,
  ) {
    sealed.keep('credentials of accounts', {
      heads: () => accounts.sealedHeads(),
      renew: () =>
        sealed.renewColumn(
          CONTEXT,
          0,
          (id: number, head, limit) => accounts.sealedByOthers(id, head, limit),
          (id, old, fresh) => accounts.resealCredentials(id, old, fresh),
        ),
      each: async () =>
        (await accounts.sealed()).map(({ id, name, head }) => ({
          of: `account ${id} (${name})`,
          head,
          drop: (manager) => accounts.dropCredentials(id, head, DROPPED, manager),
        })),
    });
    this.agent = outboundAgent(config.outboundDeny, config.providerTimeoutMs);
  }

  /** @throws AppError 400001 naming the kinds that exist */
  definition(kind: string): ProviderDefinition {
    const found = providerOf(kind);
    if (!found)
      throw errors.field(
        'provider',
        say('must be one of {values}', { values: PROVIDERS.map((p) => p.kind).join(', ') }),
      );
    return found;
  }

  /** The provider of a stored account. @throws AppError 404, ProviderError when its credentials were dropped */
  async of(accountId: number): Promise<Connection> {
    const row = await this.accounts.connectionOf(accountId);
    if (!row) throw errors.notFound('account');
    const known = this.live.get(accountId);
    const same = known?.sealed === row.credentials;
    this.metrics.countRemembered('connections', same);
    if (same) {
      this.follow(known, row.paused_until);
      return known.connection;
    }
    if (!row.credentials) throw new ProviderError('auth', DROPPED);
    const definition = this.definition(row.provider);
    const limiter = rateLimiterOf(definition, this.metrics, (until, why) => this.paused(accountId, live, until, why));
    const made = this.connect(definition, this.open(row.credentials), limiter);
    const connection = { ...made, sealed: row.credentials };
    const { server } = connection;
    if (row.server_key !== server) await this.accounts.setServer(accountId, row.credentials, server);
    const live: Live = { sealed: row.credentials, connection, limiter, pausedUntil: null };
    this.live.set(accountId, live);
    this.follow(live, row.paused_until);
    return connection;
  }

  /** A provider demands a pause: it is stored for all replicas. */
  private async paused(accountId: number, live: Live, until: number, why: string): Promise<void> {
    try {
      const stored = new Date(until).toISOString();
      await this.pauses.keep(accountId, live.sealed, stored, why);
      // also where a longer one is stored: ending that one ends this one, too
      live.pausedUntil = stored;
      this.look();
    } catch (error) {
      this.logger.warn({ account: accountId, err: (error as Error).message }, 'a pause is known to this process alone');
    }
  }

  /** Closes or opens the limiter as the account's row says. */
  private follow(live: Live, until: string | null): void {
    if (until === live.pausedUntil) return;
    live.pausedUntil = until;
    if (until !== null && until > now()) {
      live.limiter.close(Date.parse(until));
      this.look();
    } else live.limiter.open();
  }

  /** A pause was ended here. */
  resumed(accountId: number): void {
    const live = this.live.get(accountId);
    live?.limiter.open();
    if (live) live.pausedUntil = null;
  }

  /** Checks, while accounts are paused, whether another replica has ended a pause: requests may wait for that here. */
  private look(): void {
    this.stopLooking ??= every(LOOK_MS, () => {
      const paused = [...this.live].filter(([, { pausedUntil }]) => pausedUntil !== null && pausedUntil > now());
      if (!paused.length) {
        this.stopLooking?.();
        this.stopLooking = undefined;
        return;
      }
      void this.accounts
        .pauseEnds(paused.map(([id]) => id))
        .then((ends) => {
          for (const [id, live] of paused) this.follow(live, ends.get(id) ?? null);
        })
        .catch((error: Error) => this.logger.debug({ err: error.message }, 'pauses could not be looked at'));
    });
  }

  /** A provider for credentials that are not stored (yet). @throws ProviderError for addresses that are not allowed */
  connect(definition: ProviderDefinition, credentials: Credentials, limiter?: RateLimiter): Connection {
    const { providerTimeoutMs: timeoutMs, outboundDeny: deny, slowMs } = this.config;
    const installation = { zonefile: this.zoneFiles() };
    const provider = connectProvider(definition, credentials, {
      agent: this.agent,
      deny,
      timeoutMs,
      installation,
      slowMs,
      limiter,
      sessions: this.sessions,
      metrics: this.metrics,
      traces: this.traces,
      logger: this.logger,
    });
    return { provider, definition, server: this.server(definition, credentials) };
  }

  /** Reads the credentials that a client sent: see `readCredentials`. @throws AppError 400001 */
  read(definition: ProviderDefinition, given: Record<string, unknown>, stored?: Credentials): Credentials {
    return readCredentials(definition, given, stored, this.installation(definition));
  }

  /** Names the server of an account with these credentials. */
  server(definition: ProviderDefinition, credentials: Credentials): string {
    return serverKey(definition, credentials, this.installation(definition));
  }

  /** Names the servers of accounts of which that is not known yet: two may have held one zone for long. */
  async nameServers(): Promise<void> {
    for (const id of await this.accounts.withoutServer())
      await this.of(id).catch((error: Error) =>
        this.logger.warn({ account_id: id, err: error.message }, 'has no server yet'),
      );
  }

  private installation({ kind }: ProviderDefinition): Installation {
    return kind === 'zonefile' ? this.zoneFiles() : {};
  }

  private zoneFiles(): Installation {
    const { root, reloadCommand } = this.config.zoneFiles;
    return { root, ...(reloadCommand && { reloadCommand }) };
  }

  seal(credentials: Credentials): string {
    return this.box.encrypt(JSON.stringify(credentials), CONTEXT);
  }

  /** @param sealed empty: they were dropped, and none are left */
  open(sealed: string): Credentials {
    if (!sealed) return {};
    return JSON.parse(this.box.decrypt(sealed, CONTEXT)) as Credentials;
  }

  /** Deletes sessions at providers that have ended. */
  tidy(): Promise<void> {
    return this.sessions.deleteExpired();
  }

  forget(accountId: number): void {
    this.live.delete(accountId);
  }

  /** Drops all live connections; calls under way go on. @returns how many there were */
  clear(): number {
    const { size } = this.live;
    this.live.clear();
    return size;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopLooking?.();
    // calls under way are cut off: the next start asks the provider what came of them
    await within(this.agent.close(), STOP_WAIT_MS);
    await this.agent.destroy();
  }
}
