import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { within } from '../common/clock.js';
import { FairPool } from '../common/fair-pool.js';
import { log } from '../common/logger.js';
import { same } from '../common/read-only.js';
import { Jobs } from '../jobs/jobs.js';
import { rulesOf, type TunnelChange, type TunnelRow, TunnelRows, wordsOf } from './tunnel-rows.js';

/** ms between two looks at the tunnels of all accounts */
const EVERY_MS = 300_000;
/** ms that an answer waits for the provider */
const LOOK_MS = 5_000;
/** ms that one tick begins new looks: the next one begins with whatever came meanwhile */
const PIECE_MS = 240_000;

/** What providers say of tunnels, kept with them: status, connections, name and rules. */
@Injectable()
export class Sightings implements OnModuleInit {
  private readonly pool = new FairPool('tunnel looks');

  constructor(
    private readonly jobs: Jobs,
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly rows: TunnelRows,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('tunnels.status', EVERY_MS, (signal) => this.all(signal));
  }

  /** Asks for one, and keeps what is told. Never throws, and waits no longer than somebody likes to. */
  async look(row: TunnelRow): Promise<void> {
    if (row.state !== 'ready' || row.unsettled) return;
    const asked = this.ask(row).catch(async (error: unknown) => this.keep(row, { last_error: wordsOf(error) }));
    await within(asked, LOOK_MS);
  }

  private async ask(row: TunnelRow): Promise<void> {
    const { tunnels } = (await this.connections.of(row.account_id)).provider;
    const [owner, id] = [row.remote_account, row.tunnel_id as string];
    const remote = await tunnels.find(owner, id);
    if (!remote) return this.keep(row, { status: 'missing', connections: [], last_error: null });
    const [connections, config] = await Promise.all([tunnels.connections(owner, id), tunnels.config(owner, id)]);
    const rules = config.version === row.version ? {} : rulesOf(row, config);
    const { name, status } = remote;
    await this.keep(row, { name, status, connections, last_error: null, ...rules });
  }

  /** One list for all tunnels of an account. */
  private async all(signal: AbortSignal): Promise<void> {
    const owners = new Map<string, TunnelRow[]>();
    for (const row of await this.rows.ready()) {
      const key = `${row.account_id} ${row.remote_account}`;
      owners.set(key, [...(owners.get(key) ?? []), row]);
    }
    const users = await this.accounts.owners();
    const enough = AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS)]);
    await Promise.all(
      [...owners.values()].map(async (rows) => {
        const [{ account_id }] = rows as [TunnelRow];
        const share = { user: users.get(account_id) ?? null, target: account_id };
        await this.pool
          .run(share, () => this.allOf(rows), enough)
          .catch((error) => {
            if (!enough.aborted) throw error;
          });
      }),
    );
  }

  private async allOf(rows: readonly TunnelRow[]): Promise<void> {
    const [{ account_id, remote_account }] = rows as [TunnelRow];
    try {
      const { provider } = await this.connections.of(account_id);
      const found = new Map((await provider.tunnels.list(remote_account)).map((remote) => [remote.id, remote]));
      for (const row of rows) {
        const remote = found.get(row.tunnel_id as string);
        const { name = row.name, status = 'missing' } = remote ?? {};
        const none = status !== 'healthy' && status !== 'degraded' && { connections: [] };
        await this.keep(row, { name, status, last_error: null, ...none });
      }
    } catch (error) {
      log().warn({ account: account_id, err: wordsOf(error) }, 'the tunnels of an account could not be looked at');
      for (const row of rows) await this.keep(row, { last_error: wordsOf(error) });
    }
  }

  private async keep(row: TunnelRow, seen: TunnelChange): Promise<void> {
    const news = Object.entries(seen).filter(([key, value]) => !same(value, row[key as keyof TunnelRow]));
    await this.rows.seen(row, Object.fromEntries(news));
  }
}
