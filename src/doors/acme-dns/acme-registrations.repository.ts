import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { AcmeRegistration } from './registration.entity.js';

/** The table `acme_registrations`. */
@Injectable()
export class AcmeRegistrationsRepository {
  constructor(private readonly db: Db) {}

  of(username: string): Promise<AcmeRegistration | null> {
    return this.db.source.manager.findOneBy(AcmeRegistration, { username });
  }

  count(tokenId: number, manager: EntityManager): Promise<number> {
    return manager.countBy(AcmeRegistration, { token_id: tokenId });
  }

  async insert(row: Omit<AcmeRegistration, 'id' | 'token'>, manager: EntityManager): Promise<void> {
    await manager.insert(AcmeRegistration, row);
  }
}
