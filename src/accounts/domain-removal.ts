import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

type Work = (manager: EntityManager, domainIds: number[]) => Promise<void>;

/** What must happen, in the same transaction, when domains are removed here, alone or with their account. Contexts that keep domain ids register. */
@Injectable()
export class DomainRemoval {
  private readonly works: Work[] = [];

  register(work: Work): void {
    this.works.push(work);
  }

  async run(manager: EntityManager, domainIds: number[]): Promise<void> {
    if (!domainIds.length) return;
    for (const work of this.works) await work(manager, domainIds);
  }
}
