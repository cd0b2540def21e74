import { randomInt } from 'node:crypto';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { hasScope, type Principal } from '../../access/access.js';
import { Admission } from '../../auth/guard/admission.service.js';
import { bareName } from '../../dns/names.js';
import { sign, TsigVerifier } from '../../dns/tsig.js';
import { decode, encode, type Message, OPCODE, RCODE, TYPE, type WireRecord } from '../../dns/wire.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { after, type Cancel, timeMs } from '../../platform/common/clock.js';
import { AppError } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { DnsClient, NoAnswer } from '../../platform/dns-client/dns-client.service.js';
import { Events } from '../../platform/events/events.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { ApiTokensRepository } from '../../tokens/api-tokens.repository.js';
import { readsWhole } from '../../tokens/rules/token-rules.js';
import { tokenEnd, tokenPrincipal } from '../../tokens/token-access.js';
import { addressOf } from './targets.js';
import { DnsTransfers } from './transfers.service.js';
import { type KeyOfToken, TsigKeysService } from './tsig-keys.service.js';
import { TsigSecondariesRepository } from './tsig-secondaries.repository.js';

const JOB = 'rfc2136.notify';
/** ms in which the changes of a zone are told as one */
const QUIET_MS = 1000;
const ANSWER_MS = 3000;
/** RFC 1996 section 3.6 */
const TRIES = 5;

interface Payload {
  domain: number;
  secondary: number;
}

/**
 * Tells secondaries that a zone has changed (RFC 1996): each of a token whose key may transfer it. As jobs, so that one
 * process tells it, a restart loses nothing that is a second old, and what is not answered is tried again.
 */
@Injectable()
export class Secondaries implements OnModuleInit, BeforeApplicationShutdown {
  /** the domains that have just changed */
  private readonly changed = new Map<number, Cancel>();

  constructor(
    private readonly admission: Admission,
    private readonly secondaries: TsigSecondariesRepository,
    private readonly keys: TsigKeysService,
    private readonly tokens: ApiTokensRepository,
    private readonly policy: DomainPolicy,
    private readonly transfers: DnsTransfers,
    private readonly client: DnsClient,
    private readonly jobs: Jobs,
    private readonly events: Events,
    @Inject(CONFIG) private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<Payload>(JOB, { run: (payload) => this.tell(payload), tries: TRIES });
    this.events.on('records.changed', (domainId) => this.soon(domainId));
    this.events.on('records.synced', (domainId, touched) => touched && this.soon(domainId));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.changed.keys()].map((id) => this.queue(id)));
  }

  private soon(domainId: number): void {
    if (this.changed.has(domainId)) return;
    this.changed.set(
      domainId,
      after(QUIET_MS, () => void this.queue(domainId), { idle: true }),
    );
  }

  private async queue(domainId: number): Promise<void> {
    this.changed.get(domainId)?.();
    this.changed.delete(domainId);
    try {
      await this.tellAll(domainId);
    } catch (err) {
      // such as a database that is away: secondaries look by themselves, too
      this.logger.warn({ err, domain: domainId }, 'secondaries are not told of a change');
    }
  }

  /** A job for each secondary. */
  private async tellAll(domainId: number): Promise<void> {
    const all = await this.secondaries.all();
    if (!all.length || !(await this.admission.isOpen('rfc2136'))) return;
    for (const tokenId of new Set(all.map(({ token_id }) => token_id))) {
      if (!(await this.zoneOf(tokenId, domainId))) continue;
      for (const { id } of all.filter(({ token_id }) => token_id === tokenId)) {
        const job = await this.jobs.enqueue(JOB, { domain: domainId, secondary: id }, `${JOB}:${id}:${domainId}`);
        await this.atOnce(job);
      }
    }
  }

  /** One that waits after a failure has something new to tell. */
  private async atOnce(job: number): Promise<void> {
    try {
      await this.jobs.again(job);
    } catch (error) {
      // it runs already
      if (!(error instanceof AppError)) throw error;
    }
  }

  /** The zone, where the key of a token may transfer it now; null: it may not. */
  private async zoneOf(tokenId: number, domainId: number): Promise<OpenDomain | null> {
    const row = await this.tokens.withCreator(tokenId);
    if (!row || tokenEnd(row)) return null;
    const me = tokenPrincipal(row, 'rfc2136');
    const found = hasScope(me.token?.allowedServices ?? [], 'rfc2136') && (await this.policy.look(me, domainId));
    const zone = found && (await this.served(me, found));
    return zone && readsWhole(zone.access.rules, zone.id) ? zone : null;
  }

  /** The domain that is transferred by the name of this one, where it is this one. */
  private async served(me: Principal, { id, name }: OpenDomain): Promise<OpenDomain | null> {
    try {
      const zone = await this.policy.lookAbove(me, [name]);
      return zone?.id === id ? zone : null;
    } catch (error) {
      // several have this name: none of them is transferred
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  /** @throws NoAnswer, TsigError, RangeError when it is to be tried again */
  private async tell({ domain, secondary }: Payload): Promise<void> {
    const row = await this.secondaries.one(secondary);
    const key = row && (await this.keys.ofToken(row.token_id));
    const zone = key && (await this.zoneOf(row.token_id, domain));
    if (!zone) return;
    try {
      await this.notify(row.target, key, zone.name, await this.transfers.soa(zone));
    } catch (error) {
      await this.secondaries.note(row.id, zone.name, (error as Error).message);
      throw error;
    }
    await this.secondaries.note(row.id, zone.name, null);
  }

  /** RFC 1996 sections 3.7 and 3.8, signed as RFC 8945 has it. */
  private async notify(target: string, key: KeyOfToken, zone: string, soa: WireRecord): Promise<void> {
    const id = randomInt(65_536);
    const plain = encode(id, OPCODE.NOTIFY, { name: zone, type: TYPE.SOA }, [[soa], []]);
    // AA
    plain.writeUInt8(plain.readUInt8(2) | 0x04, 2);
    const { signed, mac } = sign(plain, key, Math.floor(timeMs() / 1000));
    const fits = (raw: Buffer): Message | null => {
      const answer = decode(raw);
      const [asked] = answer.question;
      const isOurs = answer.id === id && answer.response && answer.opcode === OPCODE.NOTIFY;
      if (!isOurs || (asked && bareName(asked.name) !== zone)) return null;
      const verifier = new TsigVerifier(key, mac);
      verifier.accept(raw, answer);
      verifier.complete();
      return answer;
    };
    const allow = this.config.outboundAllow;
    const { rcode } = await this.client.tell(addressOf(target), signed, fits, { timeoutMs: ANSWER_MS, allow });
    const words = Object.entries(RCODE).find(([, code]) => code === rcode)?.[0] ?? `rcode ${rcode}`;
    if (rcode !== RCODE.NOERROR) throw new NoAnswer(`it answered ${words}`);
  }
}
