import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import type { StoredRecord } from '../cache/record-cache.js';
import { type EndedRecord, RecordEndsRepository } from '../cache/record-ends.repository.js';
import { judgeRecord, systemAccess } from '../domains/access-rights.js';
import type { DomainRow } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { now, sleep, timeMs } from '../platform/common/clock.js';
import { actingLater } from '../platform/common/deadline.js';
import { AppError } from '../platform/common/errors.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { CODES } from '../platform/common/words/codes.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import { Makers } from '../tokens/makers.service.js';
import { ChangeSets } from './change-sets.js';
import type { Edit } from './edits/edit.js';
import { ChangeEngine } from './engine.service.js';
import { Waits } from './gate/waits.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';

/** ms between two looks for records that have ended */
const EVERY_MS = 15_000;
/** records that one statement reads */
const PAGE = 500;
/** records of a domain that are deleted together: fewer names than take the lock of its zone */
const PIECE = 50;
/** ms until what failed is tried again, at first and at most */
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;
const COMMENT = 'The end of these records (expires_at) has come';

/** Failures that the next record of the domain would meet, too. */
const OF_PROVIDER: ReadonlySet<string> = new Set(['unavailable', 'rate_limit', 'auth']);

/** How often something failed in a row, and when it may be tried again. */
interface Pause {
  fails: number;
  until: number;
}

/**
 * Deletes records whose `expires_at` has come, with the right of who set it, judged then. What fails is tried again,
 * more and more seldom: a domain whose provider fails keeps no other one waiting, nor a record the others beside it.
 */
@Injectable()
export class EndedRecords implements OnModuleInit {
  private readonly pool = new FairPool('ended records');
  /** domains that are being worked on, or wait for that */
  private readonly going = new Map<number, Promise<void>>();
  /** of domains and records, by a text */
  private readonly pauses = new Map<string, Pause>();
  /** a domain had more of them than were taken at once */
  private more = false;

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly jobs: Jobs,
    private readonly ends: RecordEndsRepository,
    private readonly domains: DomainsService,
    private readonly makers: Makers,
    private readonly engine: ChangeEngine,
    private readonly sync: RecordSyncService,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly installation: Installation,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('records.expire', EVERY_MS, (signal) => this.look(signal));
  }

  /** Goes on as long as there is something to do; what ends meanwhile waits for none that hangs. */
  async look(signal: AbortSignal): Promise<void> {
    do {
      if (!this.database.open || this.installation.halted) return;
      this.more = false;
      for (const [domainId, list] of await this.found()) this.begin(domainId, list, signal);
      const soon = sleep(EVERY_MS, { signal, idle: true });
      await Promise.race([Promise.all(this.going.values()), ...(this.going.size ? [soon] : [])]);
    } while ((this.going.size || this.more) && !signal.aborted);
  }

  /** What may be tried now, some of each domain. */
  private async found(): Promise<Map<number, EndedRecord[]>> {
    for (const [key, { until }] of this.pauses) if (until < timeMs() - PAUSE_MAX_MS) this.pauses.delete(key);
    const found = new Map<number, EndedRecord[]>();
    const by = now();
    for (let page = await this.ends.ended(by, PAGE); page.length; ) {
      for (const row of page) {
        const list = found.get(row.domain_id) ?? [];
        if (list.length === PIECE || !this.isRipe(row)) continue;
        found.set(row.domain_id, list);
        list.push(row);
      }
      page = page.length < PAGE ? [] : await this.ends.ended(by, PAGE, page.at(-1));
    }
    return found;
  }

  private begin(domainId: number, list: readonly EndedRecord[], signal: AbortSignal): void {
    const end = this.inTurn(domainId, list, signal)
      .catch((error: Error) => {
        if (signal.aborted || (error instanceof AppError && error.status === 404)) return;
        this.fails(ofDomain(domainId));
        this.logger.warn({ domain_id: domainId, err: error.message }, 'records that have ended are still there');
      })
      .finally(() => this.going.delete(domainId));
    this.going.set(domainId, end);
  }

  private async inTurn(domainId: number, list: readonly EndedRecord[], signal: AbortSignal): Promise<void> {
    const domain = await this.domains.reload(domainId);
    const share = { user: domain.owner_id, target: domainId };
    await this.pool.run(share, () => actingLater(() => this.ofMakers(domain, list)), signal);
    if (list.length === PIECE) this.more = true;
  }

  /** What has to wait for an approval waits in the name of who set the end: their records go by themselves. */
  private async ofMakers(domain: DomainRow, list: readonly EndedRecord[]): Promise<void> {
    const makers = new Map<string, EndedRecord[]>();
    for (const row of list) {
      const key = JSON.stringify(makerOf(row));
      makers.set(key, [...(makers.get(key) ?? []), row]);
    }
    for (const some of makers.values()) await this.end(domain, some);
  }

  /** Deletes those that may be, and holds the others. @param list of one maker @throws AppError; ProviderError */
  private async end(domain: DomainRow, list: readonly EndedRecord[]): Promise<void> {
    // while its provider is down, no change is begun that would fail
    if (this.pauses.has(ofDomain(domain.id))) await this.sync.refresh(domain, 'system');
    const ids = new Set(list.map(({ id }) => id));
    let judged: Judged = { may: [], held: new Map() };
    const of = async (rows: readonly StoredRecord[]): Promise<Edit[]> => {
      judged = await this.judge(
        domain.id,
        rows.filter(({ id }) => ids.has(id)),
      );
      return judged.may.map(({ id }) => ({ op: 'delete', id }));
    };
    const hosts = [...new Set(list.map(({ host }) => host))];
    const all = { ...domain, access: systemAccess };
    const maker = makerOf(list[0] as EndedRecord);
    const options = { door: 'job' as const, comment: COMMENT, atomic: false, maker };
    const done = await this.engine.whole('system', all, { hosts, of }, options).catch((error: unknown) => {
      if (error instanceof Waits || (error instanceof AppError && error.code === CODES.guarded.code)) return error;
      throw error;
    });
    // asked for again while they are there: the same wish finds the plan that waits
    if (done instanceof Waits) return judged.may.forEach(({ id }) => void this.fails(ofRecord(id)));
    if (done instanceof AppError) return this.guarded(domain, list, judged.may, done);
    const { results } = done;
    for (const [reason, rows] of judged.held) await this.hold(domain, rows, reason);
    const errors = results.flatMap((result, i) => (result.ok ? [] : [{ error: result.error, row: judged.may[i] }]));
    for (const { row } of errors) if (row) this.fails(ofRecord(row.id));
    const away = errors.find(({ error }) => error instanceof OutboundError && OF_PROVIDER.has(error.kind));
    if (away) throw away.error;
    this.pauses.delete(ofDomain(domain.id));
  }

  /** A guard of the domain keeps one of them, which is held then; it keeps none of the others. */
  private async guarded(
    domain: DomainRow,
    list: readonly EndedRecord[],
    rows: StoredRecord[],
    { message }: AppError,
  ): Promise<void> {
    if (list.length === 1) return this.hold(domain, rows, message);
    for (const one of list) await this.end(domain, [one]);
  }

  /** Which of these rows have ended as they are now, under their locks, and why some may not be deleted. */
  private async judge(domainId: number, rows: readonly StoredRecord[]): Promise<Judged> {
    const judged: Judged = { may: [], held: new Map() };
    const rights = new Map<string, ReturnType<Makers['inDomains']>>();
    for (const row of rows) {
      const { expires_at, end_hold_reason } = row;
      if (!expires_at || expires_at > now() || (end_hold_reason ?? null) !== null) continue;
      const maker = makerOf(row);
      const key = JSON.stringify(maker);
      const right = rights.get(key) ?? this.makers.inDomains(maker, [domainId], 'records', 'records:write');
      rights.set(key, right);
      const reason = refusalOf((await right).get(domainId) as Right, domainId, row);
      if (reason === null) judged.may.push(row);
      else judged.held.set(reason, [...(judged.held.get(reason) ?? []), row]);
    }
    return judged;
  }

  /** Records stay until somebody gives them another end; owner and administrators are notified once. */
  private async hold({ id, name, owner_id: owner }: DomainRow, rows: StoredRecord[], reason: string): Promise<void> {
    const ids = rows.map((row) => row.id);
    const names = [...new Set(rows.map(({ host, type }) => `${host} ${type}`))].slice(0, 10).join(', ');
    await this.db.transaction(async (manager) => {
      await this.sets.touch(manager, id, true);
      const records = await this.ends.hold(id, ids, now(), reason, manager);
      if (!records) return;
      const what = `${records} records of ${name} (${names}) that have ended are held`;
      const text = `${what}: ${reason}. Another expires_at, or none, ends this`;
      await this.makers.tell(manager, { text, domain: name, owner, details: { records, names } });
      const target = { type: 'domain', id, name };
      await this.audit.write(manager, 'system', {
        ...{ action: 'record.hold', domain: { id, name }, target, after: { reason, records, names } },
      });
    });
  }

  private isRipe({ id, domain_id }: EndedRecord): boolean {
    const isPaused = (key: string) => (this.pauses.get(key)?.until ?? 0) > timeMs();
    return !this.going.has(domain_id) && !isPaused(ofDomain(domain_id)) && !isPaused(ofRecord(id));
  }

  private fails(key: string): void {
    const fails = (this.pauses.get(key)?.fails ?? 0) + 1;
    this.pauses.set(key, { fails, until: timeMs() + Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (fails - 1)) });
  }
}

/** Records that may be deleted, and those that may not, by the reason. */
interface Judged {
  may: StoredRecord[];
  held: Map<string, StoredRecord[]>;
}

type Right = Awaited<ReturnType<Makers['inDomains']>> extends Map<number, infer R> ? R : never;

/** Why a record may not be deleted with a right; null: it may. */
function refusalOf(right: Right, domainId: number, row: StoredRecord): string | null {
  if (typeof right === 'string') return right;
  const verdict = judgeRecord(right.access, domainId, 'delete', row);
  return verdict.allowed ? null : verdict.reason;
}

/** Who said when a record ends. */
const makerOf = (row: { end_maker_id?: number | null; end_maker_token_id?: number | null }) => ({
  maker_id: row.end_maker_id ?? null,
  maker_token_id: row.end_maker_token_id ?? null,
});

const ofDomain = (id: number): string => `domain ${id}`;
const ofRecord = (id: number): string => `record ${id}`;
