import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { DeletionBlockersRepository } from './deletion-blockers.repository.js';

const conflict = (name: string, ends: string | null) => {
  return ends ? errors.conflict('in_flight_until', { name, until: ends }) : errors.conflict('in_flight_now', { name });
};

/**
 * Refuses to delete domains, or to move them to another server, while their provider may still carry out a write that
 * was sent: nobody who manages the zone elsewhere would know that it may come, and it could overwrite what was
 * acknowledged to them. A minute later at most the outcome is known.
 */
@Injectable()
export class DeletionBlockers {
  private lockDomains: (accountId: number, manager: EntityManager) => Promise<unknown> = async () => {};
  constructor(private readonly blockers: DeletionBlockersRepository) {}

  /** How the domains of an account are locked, which are above accounts. */
  onLocking(lockDomains: DeletionBlockers['lockDomains']): void {
    this.lockDomains = lockDomains;
  }

  /**
   * @param by which domains: those of an account, or one
   * @param force only domains whose zone another domain is, too: a zone that is added anew waits (`assertNotLate`)
   * @throws AppError 409001
   */
  async assertNothingInFlight(
    by: 'id' | 'account_id',
    id: number,
    force: boolean,
    manager: EntityManager,
  ): Promise<void> {
    // a change that is not stored yet is stored before, or sees what is done here
    if (by === 'account_id') await this.lockDomains(id, manager);
    const write = await this.blockers.inFlight(by, id, force, now(), manager);
    if (write) throw conflict(write.name, write.ends);
  }

  /** Of these names, those of deleted domains with a write that may still come, and until when. */
  lateNames(names: readonly string[]): Promise<Map<string, string>> {
    return this.blockers.lateNames(names, now());
  }

  /** @throws AppError 409001 while a write of a deleted domain of this name may still come */
  async assertNotLate(name: string, manager: EntityManager): Promise<void> {
    const ends = (await this.blockers.lateNames([name], now(), manager)).get(name);
    if (ends !== undefined) throw conflict(name, ends);
  }
}
