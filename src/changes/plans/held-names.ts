import { Injectable } from '@nestjs/common';
import type { DomainRow } from '../../domains/domain-policy.js';
import { SettingsService } from '../../settings/settings.service.js';

type Key = 'own_host' | 'failover' | 'tunnel';
type HostsOf = (domain: DomainRow) => Promise<readonly string[]>;

/** The names of a zone that something stands on. Who stands on names says so by `provide`. */
@Injectable()
export class HeldNames {
  private readonly sources = new Map<Key, HostsOf>();

  constructor(private readonly settings: SettingsService) {
    this.provide('own_host', async ({ name }) =>
      hostsWithin([new URL(await this.settings.publicUrl()).hostname], name),
    );
  }

  provide(key: Key, hostsOf: HostsOf): void {
    this.sources.set(key, hostsOf);
  }

  async of(domain: DomainRow): Promise<Map<Key, ReadonlySet<string>>> {
    const held = new Map<Key, ReadonlySet<string>>();
    for (const [key, hostsOf] of this.sources) held.set(key, new Set(await hostsOf(domain)));
    return held;
  }
}

/** Names that lie in a zone, as hosts of it. */
export const hostsWithin = (names: readonly string[], zone: string): string[] =>
  names.flatMap((name) => (name === zone ? ['@'] : name.endsWith(`.${zone}`) ? [name.slice(0, -zone.length - 1)] : []));
