import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Domain } from './domain.entity.js';
import { DomainsRepository } from './domains.repository.js';

/** What a domain has when it is added. */
export type NewDomain = Pick<Domain, 'name' | 'apart' | 'account_id' | 'remote_id' | 'owner_id' | 'status' | 'remark'> &
  Pick<Domain, 'records_count' | 'revision' | 'created_at'>;

/** The names that an account had domains of, whose history can be taken up again. */
export type KnownNames = Pick<Domain, 'name' | 'apart'>[];

/** Adds domains; one that the account had takes its history up again, which those know who keep it: they are above. */
@Injectable()
export class NewDomains {
  private takeUp: (domain: NewDomain, manager: EntityManager) => Promise<number | null> = async () => null;
  private names: (accountId: number) => Promise<KnownNames> = async () => [];

  constructor(private readonly domains: DomainsRepository) {}

  /** @param takeUp adds the domain with its history; null: it has none */
  onTakingUp(takeUp: NewDomains['takeUp'], names: NewDomains['names']): void {
    this.takeUp = takeUp;
    this.names = names;
  }

  /** @returns its id, and whether it has taken its history up */
  async add(domain: NewDomain, manager: EntityManager): Promise<{ id: number; taken_up: boolean }> {
    const id = await this.takeUp(domain, manager);
    if (id !== null) return { id, taken_up: true };
    return { id: await this.domains.add(domain, manager), taken_up: false };
  }

  /** Of these zones, those with a history in the account; each may have many records, and is added by itself. */
  async withHistory<T extends KnownNames[0]>(accountId: number, zones: readonly T[]): Promise<ReadonlySet<T>> {
    if (!zones.length) return new Set();
    const key = ({ name, apart }: KnownNames[0]) => JSON.stringify([name, apart]);
    const known = new Set((await this.names(accountId)).map(key));
    return new Set(zones.filter((zone) => known.has(key(zone))));
  }
}
