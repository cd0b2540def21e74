import { Injectable } from '@nestjs/common';
import { Db } from '../platform/database/db.js';
import { AuditService } from './audit.service.js';
import { ChainEnds } from './chain-ends.service.js';
import { CheckpointFile } from './checkpoint-file.service.js';
import { AuditLinker } from './linker.service.js';

/** Accepts a break of the chain that an operator has examined, such as one that a restored database leaves. */
@Injectable()
export class AuditAcceptance {
  constructor(
    private readonly db: Db,
    private readonly ends: ChainEnds,
    private readonly linker: AuditLinker,
    private readonly file: CheckpointFile,
    private readonly audit: AuditService,
  ) {}

  /**
   * Signs the current end of the chain, and starts the checkpoints of this data directory anew. Entries that were
   * changed stay changed.
   * @returns the number of the newest entry
   */
  async accept(): Promise<number> {
    const known = await this.file.read();
    await this.linker.link();
    const seq = await this.db.transaction(async (manager) => {
      const { secret, signature: _, ...ends } = await this.ends.lock(manager);
      const kept = secret ?? this.ends.newSecret();
      await this.ends.store(manager, ends, kept, this.ends.keysOf(kept).sign(ends));
      const of = (seq: number | null, hash: string | null) => ({ seq, hash });
      await this.audit.write(manager, 'system', {
        action: 'audit.accept',
        target: { type: 'audit', id: null, name: null },
        before: of(known?.seq ?? null, known?.hash ?? null),
        after: of(ends.seq, ends.hash),
      });
      return ends.seq;
    });
    await this.file.forget();
    return seq;
  }
}
