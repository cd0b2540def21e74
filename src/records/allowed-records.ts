import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import {
  DnsRecordsRepository,
  type Listed,
  type ShownRecord,
  type StoredRecord,
} from '../cache/dns-records.repository.js';
import { judgeRecord, READ } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { errors } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import type { TokenRule } from '../tokens/rules/token-rules.js';
import { type RulesSql, readableAnywhereSql, readableSql } from './rules-sql.js';

/** Records that are read at once. */
const BATCH = 500;

/** Some of the records of a list. */
interface Wanted extends Listed {
  skip: number;
  take: number;
}

/** The lists of tokens with rules: what SQL can say of the rules it says, the rest is judged batch by batch. */
@Injectable()
export class AllowedRecords implements OnModuleDestroy {
  private stopping = false;

  constructor(private readonly rows: DnsRecordsRepository) {}

  onModuleDestroy(): void {
    this.stopping = true;
  }

  /**
   * A page of the records that the rules of the asker let read, and how many there are.
   * @param gone whether nobody waits for it any more
   * @throws AppError 503001 when it was given up
   */
  async page(domain: OpenDomain, wanted: Wanted, gone: () => boolean): Promise<{ total: number; rows: ShownRecord[] }> {
    const rules = domain.access.rules as readonly TokenRule[];
    return this.some(rules, readableSql(rules, domain.id), wanted, gone);
  }

  /**
   * The same over all domains of a list, which are those that the rules speak of.
   * @throws AppError 503001 when it was given up
   */
  everywhere(
    rules: readonly TokenRule[],
    wanted: Wanted,
    gone: () => boolean,
  ): Promise<{ total: number; rows: ShownRecord[] }> {
    return this.some(rules, readableAnywhereSql(rules), wanted, gone);
  }

  private some(rules: readonly TokenRule[], sql: RulesSql, wanted: Wanted, gone: () => boolean) {
    const where = `${wanted.where} AND ${sql.where}`;
    const values = [...wanted.values, ...sql.values];
    return sql.exact ? this.told({ ...wanted, where, values }) : this.judged(rules, { ...wanted, where, values }, gone);
  }

  /**
   * All records of a list that the asker may read, in its order, read in pages.
   * @param gone as of `page`
   */
  async *all(domain: OpenDomain, listed: Listed, gone: () => boolean): AsyncGenerator<StoredRecord[]> {
    const rules = domain.access.rules && readableSql(domain.access.rules, domain.id);
    const where = rules ? `${listed.where} AND ${rules.where}` : listed.where;
    const all = { ...listed, where, values: [...listed.values, ...(rules?.values ?? [])] };
    for await (const batch of this.batches(all)) {
      const rows: StoredRecord[] = [];
      for (const row of batch) {
        if (due()) await this.breathe(gone);
        if (!rules || rules.exact || judgeRecord(domain.access, domain.id, 'read', row).allowed) rows.push(row);
      }
      yield rows;
    }
  }

  private async *batches(listed: Listed): AsyncGenerator<StoredRecord[]> {
    let last: StoredRecord | undefined;
    do {
      const batch = await this.rows.after(listed, BATCH, last);
      yield batch;
      last = batch.length < BATCH ? undefined : batch.at(-1);
    } while (last);
  }

  private async told({ skip, take, ...listed }: Wanted) {
    const total = await this.rows.count(listed);
    return { total, rows: await this.rows.page(listed, take, skip) };
  }

  private async judged(rules: readonly TokenRule[], wanted: Wanted, gone: () => boolean) {
    // the domains of the list are readable
    const access = { level: READ, hosts: [], rules };
    const rows: StoredRecord[] = [];
    let total = 0;
    for await (const batch of this.batches(wanted)) {
      for (const row of batch) {
        if (due()) await this.breathe(gone);
        if (!judgeRecord(access, row.domain_id, 'read', row).allowed) continue;
        if (total >= wanted.skip && rows.length < wanted.take) rows.push(row);
        total += 1;
      }
    }
    return { total, rows };
  }

  /** Yields to other work. @throws AppError 503001 when nobody waits for the list any more */
  async breathe(gone: () => boolean): Promise<void> {
    await turn();
    if (this.stopping || gone()) throw errors.notReady('stopping', 5);
  }
}
