import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { signedIn } from '../../access/access.js';
import { FailedChanges } from '../../audit/failed-changes.service.js';
import { Admission } from '../../auth/guard/admission.service.js';
import { fullName, namesAbove } from '../../dns/names.js';
import { RCODE, type WireRecord } from '../../dns/wire.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { after, type Cancel, timeMs } from '../../platform/common/clock.js';
import { Deadline, underDeadline } from '../../platform/common/deadline.js';
import { downloads } from '../../platform/common/downloads.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { readsWhole } from '../../tokens/rules/token-rules.js';
import type { Backend, DnsCaller, From, Once } from './dns-messages.js';
import { DnsFault, type DnsRequest, EDE, refused } from './dns-request.js';
import { DnsTransfers } from './transfers.service.js';
import { TsigKeysRepository } from './tsig-keys.repository.js';
import { type KeyOfToken, TsigKeysService } from './tsig-keys.service.js';
import { readUpdate, type Step, type Update } from './update.js';
import { DnsUpdates } from './updates.service.js';

const DOOR = 'rfc2136';
/** ms between two times that old updates are forgotten */
const TIDY_MS = 60_000;

const updates = new FairPool('DNS updates');

/** What DNS messages are answered by: who sent them, and what they may. */
@Injectable()
export class Rfc2136Service implements Backend {
  private tidied = 0;

  constructor(
    private readonly admission: Admission,
    private readonly keys: TsigKeysService,
    private readonly seen: TsigKeysRepository,
    private readonly policy: DomainPolicy,
    private readonly updates: DnsUpdates,
    private readonly transfers: DnsTransfers,
    private readonly failed: FailedChanges,
    @Inject(CONFIG) private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  isOpen(): Promise<boolean> {
    return this.admission.isOpen(DOOR);
  }

  key(name: string): Promise<KeyOfToken | null> {
    return this.keys.named(name);
  }

  isStrangerRefused(ip: string): Promise<boolean> {
    return this.admission.isStrangerRefused(DOOR, ip);
  }

  caller(ip: string): DnsCaller {
    return { ip, userAgent: '', requestId: randomUUID(), principal: null, door: DOOR };
  }

  async letIn(me: DnsCaller, tokenId: number, changes: number): Promise<boolean> {
    try {
      if (!(await this.admission.letIn(me, tokenId))) return false;
      await this.admission.count(me, changes);
      return true;
    } catch (error) {
      if (changes && error instanceof AppError) await this.note(me, error);
      throw error;
    }
  }

  async soaAbove(name: string): Promise<WireRecord | null> {
    const names = namesAbove(name);
    const known = await this.policy.known(names);
    const zone = names.map((one) => known.find((domain) => domain.name === one)).find((domain) => domain);
    return zone ? this.transfers.soa(zone) : null;
  }

  async soaOf(me: DnsCaller, zone: string): Promise<WireRecord> {
    return this.transfers.soa(await this.transferable(me, zone));
  }

  async *transfer(me: DnsCaller, zone: string, serial: number | null, from: From): AsyncGenerator<WireRecord[]> {
    const domain = await this.transferable(me, zone);
    const release = downloads.takeOrRefuse({ user: signedIn(me).userId });
    try {
      for await (const piece of this.transfers.pieces(domain, serial)) {
        if (from.gone()) return;
        yield piece;
      }
    } finally {
      release();
    }
  }

  async update(me: DnsCaller, zone: string, request: DnsRequest, once: Once): Promise<void> {
    try {
      this.admission.assertMayChange(true);
      me.asked = { name: zone, domain: null };
      const domain = await this.zoneOf(me, zone);
      me.asked.domain = domain;
      const update = await readUpdate(request.message, domain.name);
      me.asked.name = nameOf(update, domain.name);
      if (!(await this.isFirst(once)))
        throw new DnsFault(RCODE.SERVFAIL, 'this very message came before; sign another one');
      const { userId, token } = signedIn(me);
      await this.within(() =>
        updates.run({ user: userId, target: token?.id ?? 0 }, () => this.updates.apply(me, domain, update)),
      );
    } catch (error) {
      const isRefusal = error instanceof AppError || (error instanceof DnsFault && error.rcode === RCODE.REFUSED);
      if (isRefusal) await this.note(me, error);
      throw error;
    }
  }

  broken(err: unknown): void {
    this.logger.error({ err, door: DOOR }, 'internal error');
  }

  /** What is refused is in the log, as it is of requests by HTTP. */
  private note(me: DnsCaller, { message }: Error): Promise<void> {
    const target = { type: 'record', id: null, name: me.asked?.name ?? null };
    return this.failed.note(me, { action: 'record.update', domain: me.asked?.domain ?? null, target }, message);
  }

  /** @throws DnsFault NOTAUTH where there is no such zone, REFUSED where it may not be read; AppError 409001 */
  private async zoneOf(me: DnsCaller, zone: string): Promise<OpenDomain> {
    const found = await this.policy.lookAbove(signedIn(me), [zone]);
    if (found) return found;
    if (!(await this.policy.known([zone])).length)
      throw new DnsFault(RCODE.NOTAUTH, `${zone || '.'} is no zone that is managed here`, EDE.NOT_AUTHORITATIVE);
    throw errors.forbidden('token_domain_denied', {}, { required: `domain:${zone}:write` });
  }

  /** @throws DnsFault; AppError 403001 where a token may read a part of the zone only */
  private async transferable(me: DnsCaller, zone: string): Promise<OpenDomain> {
    const domain = await this.zoneOf(me, zone);
    if (readsWhole(domain.access.rules, domain.id)) return domain;
    throw refused(`the token of this key may read a part of ${zone} only, and a transfer is of all`);
  }

  /** Whether an update has not come before, to any process. */
  private async isFirst({ id, until }: Once): Promise<boolean> {
    if (timeMs() - this.tidied > TIDY_MS) {
      this.tidied = timeMs();
      await this.seen.forget(new Date(timeMs()).toISOString());
    }
    return this.seen.see(id, new Date(until * 1000).toISOString());
  }

  /** Ends what takes too long as a request by HTTP ends; what goes on then goes on under its locks. */
  private async within(work: () => Promise<void>): Promise<void> {
    const deadline = new Deadline(this.config.requestDeadlineMs);
    let cancel: Cancel | undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = after(this.config.requestDeadlineMs, () => {
        deadline.isOver = true;
        reject(new DnsFault(RCODE.SERVFAIL, LATE, EDE.NO_REACHABLE_AUTHORITY));
      });
    });
    const done = underDeadline(deadline, work);
    done.catch(() => undefined);
    await Promise.race([done, late]).finally(() => {
      cancel?.();
      deadline.lift();
    });
  }
}

const LATE = 'the provider took all the time that there was, and may still be at it; look before you send it again';

/** What an update is about, for the log: its first name. */
function nameOf({ steps: [first] }: Update, zone: string): string {
  const hostOf = (step: Step) => ('record' in step ? step.record.host : step.host);
  return first ? fullName(hostOf(first), zone) : zone;
}
