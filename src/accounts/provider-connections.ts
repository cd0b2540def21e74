import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { within } from '../common/clock.js';
import { errors } from '../common/errors.js';
import type { Config } from '../config/config.js';
import { CONFIG, SECRET_BOX } from '../config/config.module.js';
import type { SecretBox } from '../config/secret-box.js';
import { Db } from '../database/db.js';
import { SEALED_HEAD, SealedValues } from '../database/sealed-values.js';
import { countRemembered } from '../metrics/metrics.js';
import { outboundAgent } from '../outbound/agent.js';
import { type Connected, connectProvider } from '../providers/connect.js';
import { ProviderError } from '../providers/errors.js';
import type { Credentials, ProviderDefinition } from '../providers/provider.js';
import { PROVIDERS, providerOf } from '../providers/registry.js';

/** ms that the end waits for answers of providers */
const STOP_WAIT_MS = 2_000;
const CONTEXT = 'dns_accounts.credentials';
const DROPPED = 'The credentials of this account were dropped, since their key was lost: enter them anew';

/** A live provider and what it declares. */
export interface Connection {
  provider: Connected;
  definition: ProviderDefinition;
}

/**
 * Turns stored accounts into live providers, and keeps them while the credentials stay the same: limits and connections
 * live in them.
 */
@Injectable()
export class ProviderConnections implements OnApplicationShutdown {
  private readonly live = new Map<number, { sealed: string; connection: Connection }>();
  private readonly agent;

  constructor(
    private readonly db: Db,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('credentials of accounts', {
      heads: () => this.sealedHeads(),
      renew: () =>
        sealed.renewColumn(
          CONTEXT,
          0,
          (id, head, limit) =>
            db.rows<{ id: number; sealed: string }>(
              `SELECT id, credentials AS sealed FROM dns_accounts
                WHERE id > ? AND credentials <> '' AND SUBSTR(credentials, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
              [id, head],
            ),
          (id, old, fresh) =>
            db.run('UPDATE dns_accounts SET credentials = ? WHERE id = ? AND credentials = ?', [fresh, id, old]),
        ),
      each: async () => {
        const sql = `SELECT id, name, SUBSTR(credentials, 1, ${SEALED_HEAD}) AS head FROM dns_accounts
          WHERE credentials <> '' ORDER BY id`;
        return (await db.rows<{ id: number; name: string; head: string }>(sql)).map(({ id, name, head }) => ({
          of: `account ${id} (${name})`,
          head,
          drop: (manager) =>
            db.run(
              `UPDATE dns_accounts SET credentials = '', last_error = ?
                WHERE id = ? AND SUBSTR(credentials, 1, ${SEALED_HEAD}) = ?`,
              [DROPPED, id, head],
              manager,
            ),
        }));
      },
    });
    this.agent = outboundAgent(config.outboundDeny, config.providerTimeoutMs);
  }

  /** @throws AppError 400001 naming the kinds that exist */
  definition(kind: string): ProviderDefinition {
    const found = providerOf(kind);
    if (!found) throw errors.field('provider', `must be one of ${PROVIDERS.map((p) => p.kind).join(', ')}`);
    return found;
  }

  /** The provider of a stored account. @throws AppError 404, ProviderError when its credentials were dropped */
  async of(accountId: number): Promise<Connection> {
    const row = await this.db.row<{ provider: string; credentials: string }>(
      'SELECT provider, credentials FROM dns_accounts WHERE id = ?',
      [accountId],
    );
    if (!row) throw errors.notFound('Account');
    const known = this.live.get(accountId);
    const same = known?.sealed === row.credentials;
    countRemembered('connections', same);
    if (same) return known.connection;
    if (!row.credentials) throw new ProviderError('auth', DROPPED);
    const connection = this.connect(this.definition(row.provider), this.open(row.credentials));
    this.live.set(accountId, { sealed: row.credentials, connection });
    return connection;
  }

  /** A provider for credentials that are not stored (yet). @throws ProviderError for addresses that are not allowed */
  connect(definition: ProviderDefinition, credentials: Credentials): Connection {
    const { providerTimeoutMs: timeoutMs, zoneFiles, outboundDeny: deny, slowMs } = this.config;
    const { root, reloadCommand } = zoneFiles;
    const installation = { zonefile: { root, ...(reloadCommand && { reloadCommand }) } };
    const provider = connectProvider(definition, credentials, {
      agent: this.agent,
      deny,
      timeoutMs,
      installation,
      slowMs,
    });
    return { provider, definition };
  }

  seal(credentials: Credentials): string {
    return this.box.encrypt(JSON.stringify(credentials), CONTEXT);
  }

  /** @param sealed empty: they were dropped, and none are left */
  open(sealed: string): Credentials {
    if (!sealed) return {};
    return JSON.parse(this.box.decrypt(sealed, CONTEXT)) as Credentials;
  }

  private async sealedHeads(): Promise<string[]> {
    const sql = `SELECT SUBSTR(credentials, 1, ${SEALED_HEAD}) AS head FROM dns_accounts`;
    return (await this.db.rows<{ head: string }>(sql)).map(({ head }) => head);
  }

  forget(accountId: number): void {
    this.live.delete(accountId);
  }

  /** Forgets all accounts; what is under way with one goes on. @returns how many were known */
  clear(): number {
    const { size } = this.live;
    this.live.clear();
    return size;
  }

  async onApplicationShutdown(): Promise<void> {
    // what is on its way is cut off: nobody hears the answer, and the next start asks what came of it
    await within(this.agent.close(), STOP_WAIT_MS);
    await this.agent.destroy();
  }
}
