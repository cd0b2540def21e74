import { Injectable } from '@nestjs/common';
import type { GuardKey } from '../../domains/change-rules/change-rules.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { SettingsService } from '../../settings/settings.service.js';

/** Guards of names, by what stands on them. */
export type HeldKey = Extract<GuardKey, 'own_host' | 'failover' | 'tunnel'>;
export type Held = ReadonlyMap<HeldKey, ReadonlySet<string>>;
type HostsOf = (domain: DomainRow) => Promise<readonly string[]>;

/** The names of a zone that something stands on. Who stands on names says so by `provide`. */
@Injectable()
export class HeldNames {
  private readonly sources = new Map<HeldKey, HostsOf>();

  constructor(private readonly settings: SettingsService) {
    this.provide('own_host', async ({ name }) =>
      hostsWithin([new URL(await this.settings.publicUrl()).hostname], name),
    );
  }

  provide(key: HeldKey, hostsOf: HostsOf): void {
    this.sources.set(key, hostsOf);
  }

  /** @param keys those that are asked for */
  async of(domain: DomainRow, keys: ReadonlySet<GuardKey>): Promise<Held> {
    const held = new Map<HeldKey, ReadonlySet<string>>();
    for (const [key, hostsOf] of this.sources) if (keys.has(key)) held.set(key, new Set(await hostsOf(domain)));
    return held;
  }
}

/** Names that lie in a zone, as hosts of it. */
export const hostsWithin = (names: readonly string[], zone: string): string[] =>
  names.flatMap((name) => (name === zone ? ['@'] : name.endsWith(`.${zone}`) ? [name.slice(0, -zone.length - 1)] : []));
