import { Injectable } from '@nestjs/common';
import { type Connection, ProviderConnections } from '../accounts/provider-connections.js';
import { wallMs } from '../platform/common/clock.js';
import { Logger } from '../platform/common/logger.js';
import { Metrics } from '../platform/metrics/metrics.js';
import type { ZoneInfo } from '../providers/provider.js';
import type { LineView } from './domain.dto.js';
import type { DomainRow } from './domain-policy.js';

/** ms that a provider's facts of a zone are kept, and after a failure until it is asked again */
const KEEP_MS = 86_400_000;
const AGAIN_MS = 60_000;

type Zone = Pick<DomainRow, 'id' | 'account_id' | 'remote_id' | 'name'>;

/**
 * What a provider can do in one zone: what its kind declares, and what it reports of this zone, whose plan may have
 * lines and bounds of its own.
 */
@Injectable()
export class ZoneFacts {
  private readonly known = new Map<
    number,
    { provider: Connection['provider']; remoteId: string; until: number; info: ZoneInfo | null }
  >();

  constructor(
    private readonly connections: ProviderConnections,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** The provider of a domain, its capabilities as they are in this zone. @throws AppError 404001 */
  async connection(domain: Zone): Promise<Connection> {
    const connection = await this.connections.of(domain.account_id);
    const info = await this.info(connection, domain);
    if (!info) return connection;
    const { definition } = connection;
    const { capabilities } = definition;
    const lines = info.lines.length ? info.lines.map(({ id }) => id) : capabilities.lines;
    const minTtl = info.minTtl ?? capabilities.minTtl;
    return { ...connection, definition: { ...definition, capabilities: { ...capabilities, lines, minTtl } } };
  }

  /** The routing lines that records of a domain can have. @throws AppError 404001 */
  async lines(domain: Zone): Promise<LineView[]> {
    const connection = await this.connections.of(domain.account_id);
    const info = await this.info(connection, domain);
    if (info?.lines.length) return info.lines;
    return connection.definition.capabilities.lines.map((id) => ({ id, name: id }));
  }

  /** The end of a zone's registration as its provider reports it, in the provider's format. @throws AppError 404001 */
  async expiresAt(domain: Zone): Promise<string | null> {
    return (await this.info(await this.connections.of(domain.account_id), domain))?.expiresAt ?? null;
  }

  /** Null where the kind has no such facts, or the provider cannot be asked now: then what is declared holds. */
  private async info({ provider }: Connection, { id, remote_id, name }: Zone): Promise<ZoneInfo | null> {
    const known = this.known.get(id);
    // with other credentials it may be another plan
    const same = known?.provider === provider && known.remoteId === remote_id;
    const fresh = same && known.until > wallMs();
    this.metrics.countRemembered('zones', fresh);
    if (fresh) return known.info;
    try {
      const info = await provider.zoneInfo({ id: remote_id, name });
      this.known.set(id, { provider, remoteId: remote_id, until: wallMs() + KEEP_MS, info });
      return info;
    } catch (error) {
      this.logger.warn({ domain: name, err: (error as Error).message }, 'the provider tells nothing of the zone');
      const info = (same && known?.info) || null;
      this.known.set(id, { provider, remoteId: remote_id, until: wallMs() + AGAIN_MS, info });
      return info;
    }
  }
}
