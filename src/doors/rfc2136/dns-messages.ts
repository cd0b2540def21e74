import { Buffer } from 'node:buffer';
import type { Caller } from '../../access/access.js';
import { bareName } from '../../dns/names.js';
import type { TsigKey } from '../../dns/tsig.js';
import { endOf, TSIG_ERROR, TsigSigner, unsigned, verifyRequest } from '../../dns/tsig-server.js';
import { CLASS, OPCODE, RCODE, type ReadRecord, TYPE, type WireRecord } from '../../dns/wire.js';
import { timeMs } from '../../platform/common/clock.js';
import { AppError } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import {
  DnsFault,
  type DnsRequest,
  EDE,
  ednsVersion,
  encodeAnswer,
  HEADER,
  headerOnly,
  readRequest,
  refused,
  type Said,
  saidOf,
} from './dns-request.js';
import { faultOf } from './faults.js';
import { Replays } from './replays.js';

/** Who sent a message. */
export interface From {
  ip: string;
  isTcp: boolean;
  /** whether nobody waits for the answer any more */
  gone: () => boolean;
}

export type DnsCaller = Caller & { door: 'rfc2136' };

/** A signed update, as it is known when it comes again. */
export interface Once {
  id: string;
  /** seconds since 1970 when its signature counts no more */
  until: number;
}

/** What messages are answered by. Everything may throw `AppError` and `DnsFault`. */
export interface Backend {
  isOpen(): Promise<boolean>;
  /** @param name lower case, without final dot */
  key(name: string): Promise<(TsigKey & { tokenId: number }) | null>;
  /** Counts a message of a stranger, before any work is done for it. @returns whether the network has sent too many */
  isStrangerRefused(ip: string): Promise<boolean>;
  caller(ip: string): DnsCaller;
  /** @param changes of records, with the prerequisites of an update @returns false: the token has ended */
  letIn(me: DnsCaller, tokenId: number, changes: number): Promise<boolean>;
  /** The SOA of the innermost zone of ours that a name is in; null: it is in none. */
  soaAbove(name: string): Promise<WireRecord | null>;
  update(me: DnsCaller, zone: string, request: DnsRequest, once: Once): Promise<void>;
  /** @param serial of the zone as the client has it; null: it has none */
  transfer(me: DnsCaller, zone: string, serial: number | null, from: From): AsyncIterable<WireRecord[]>;
  /** The SOA of a zone that the caller may transfer: the answer to an IXFR over UDP. */
  soaOf(me: DnsCaller, zone: string): Promise<WireRecord>;
  /** Tells of what nobody expected. */
  broken(error: unknown): void;
}

/** Seconds since 1970. */
const seconds = (): number => Math.floor(timeMs() / 1000);

/** A request whose signature is right. */
interface Signed {
  request: DnsRequest;
  me: DnsCaller;
  from: From;
  once: Once;
}

/** Answers DNS messages: dynamic updates, questions for the SOA of a zone, and zone transfers. */
export class DnsMessages {
  private readonly replays = new Replays();

  constructor(private readonly backend: Backend) {}

  /**
   * The answers to one message, in their order, several for a zone transfer; none where silence is the answer. Never
   * throws.
   */
  async *answers(raw: Buffer, from: From): AsyncGenerator<Buffer> {
    // who answers answers keeps two servers talking for ever
    if (raw.length < HEADER || raw.readUInt8(2) & 0x80) return;
    try {
      yield* this.answered(readRequest(raw), from);
    } catch (error) {
      if (!(error instanceof RangeError)) this.backend.broken(error);
      const isMalformed = error instanceof RangeError;
      if (!(await this.isSilent(from))) yield headerOnly(raw, isMalformed ? RCODE.FORMERR : RCODE.SERVFAIL);
    }
  }

  /** @throws RangeError when it is malformed */
  private async *answered(request: DnsRequest, from: From): AsyncGenerator<Buffer> {
    const { raw, tsig } = request;
    const closed = await this.closed();
    if (closed || !tsig) {
      if (await this.isSilent(from)) return;
      yield encodeAnswer(request, closed ?? (await this.ofStranger(request)), from.isTcp, 0);
      return;
    }
    const key = await this.backend.key(bareName(tsig.key));
    const now = seconds();
    const { error, mac } = key ? verifyRequest(raw, tsig, key, now) : { error: TSIG_ERROR.BADKEY, mac: tsig.mac };
    const refusal = encodeAnswer(request, { rcode: RCODE.NOTAUTH }, from.isTcp, 0);
    if (key && error === TSIG_ERROR.NONE) {
      const once = { id: sha256(`${key.name} ${mac.toString('hex')}`), until: endOf(tsig) };
      const said = this.known({ request, me: this.backend.caller(from.ip), from, once }, key.tokenId);
      // the token that the key stands for has ended
      const ended = () => unsigned(refusal, tsig, TSIG_ERROR.BADKEY);
      const signer = new TsigSigner(key, tsig);
      const room = raw.length - tsig.at + mac.length;
      const sign = (one: Said | null) =>
        one ? signer.sign(encodeAnswer(request, one, from.isTcp, room), seconds()) : ended();
      yield* this.signed(request, once, said, sign);
      return;
    }
    if (await this.isSilent(from)) return;
    // anybody may have recorded it
    if (key && error === TSIG_ERROR.BADTIME) yield new TsigSigner(key, tsig).signBadTime(refusal, now);
    else yield unsigned(refusal, tsig, error);
  }

  /** Signs what is said; an update is carried out once, however often it comes. */
  private async *signed(
    { raw, message }: DnsRequest,
    once: Once,
    said: AsyncGenerator<Said | null>,
    sign: (one: Said | null) => Buffer,
  ): AsyncGenerator<Buffer> {
    if (message.opcode !== OPCODE.UPDATE) {
      for await (const one of said) yield sign(one);
      return;
    }
    const kept = await this.replays.once(once, async () => sign((await said.next()).value ?? null));
    // the id is that of whoever asked
    const answer = Buffer.from(kept);
    raw.copy(answer, 0, 0, 2);
    yield answer;
  }

  /** What is said to everybody while the door is closed, or nobody can be let in; null: it is open. */
  private async closed(): Promise<Said | null> {
    try {
      if (await this.backend.isOpen()) return null;
      return saidOf(refused('the door is closed in the settings of Zoneward'));
    } catch (error) {
      return this.said(error);
    }
  }

  /** Whether somebody unknown has sent so much that silence is the answer. */
  private async isSilent({ ip }: From): Promise<boolean> {
    try {
      return await this.backend.isStrangerRefused(ip);
    } catch {
      return true;
    }
  }

  /** The answer to a message that nobody has signed. */
  private async ofStranger(request: DnsRequest): Promise<Said> {
    const { message } = request;
    const [question] = message.question;
    try {
      if (ednsVersion(request) > 0) return { rcode: RCODE.BADVERS };
      if (message.opcode === OPCODE.UPDATE) {
        zoneIn(request);
        throw refused('an update has to be signed: make a TSIG key at POST /api/tokens/:id/tsig-key');
      }
      if (message.opcode !== OPCODE.QUERY) return { rcode: RCODE.NOTIMP };
      if (question?.type !== TYPE.SOA) throw refused('without a signature only the SOA of a zone is told');
      return await this.soa(request);
    } catch (error) {
      return this.said(error);
    }
  }

  /** Lets the token of a key in, and answers. @returns null: it has ended */
  private async saidTo({ me, request }: Signed, tokenId: number, answer: () => Promise<Said>): Promise<Said | null> {
    const { opcode, sections } = request.message;
    try {
      // prerequisites are work as changes are
      const changes = opcode === OPCODE.UPDATE ? Math.max(1, sections[0].length + sections[1].length) : 0;
      return (await this.backend.letIn(me, tokenId, changes)) ? await answer() : null;
    } catch (error) {
      return this.said(error);
    }
  }

  private async update({ request, me, once }: Signed): Promise<Said> {
    await this.backend.update(me, zoneIn(request), request, once);
    return { rcode: RCODE.NOERROR };
  }

  /** What is said to somebody known; null: the token has ended. */
  private async *known(signed: Signed, tokenId: number): AsyncGenerator<Said | null> {
    const { request, from } = signed;
    const { message } = request;
    const [question] = message.question;
    const isTransfer =
      message.opcode === OPCODE.QUERY && (question?.type === TYPE.AXFR || question?.type === TYPE.IXFR);
    let transfer: AsyncIterable<WireRecord[]> | null = null;
    const first = await this.saidTo(signed, tokenId, async () => {
      if (ednsVersion(request) > 0) return { rcode: RCODE.BADVERS };
      if (message.opcode === OPCODE.UPDATE) return this.update(signed);
      if (message.opcode !== OPCODE.QUERY) return { rcode: RCODE.NOTIMP };
      if (!isTransfer) return this.soa(request);
      const name = zoneNameOf(request);
      if (from.isTcp) {
        const serial = question?.type === TYPE.IXFR ? serialIn(message.sections[1]) : null;
        transfer = this.backend.transfer(signed.me, name, serial, from);
        return { rcode: RCODE.NOERROR };
      }
      if (question?.type === TYPE.AXFR) throw new DnsFault(RCODE.FORMERR, 'a zone is transferred by TCP');
      // alone it says: ask by TCP, unless you have it (RFC 1995 section 2)
      const soa = await this.backend.soaOf(signed.me, name);
      return { rcode: RCODE.NOERROR, isAuthoritative: true, answer: [soa] };
    });
    if (!transfer) yield first;
    else yield* this.pieces(transfer);
  }

  /** The messages of a transfer; where it fails, an error is the last one. */
  private async *pieces(transfer: AsyncIterable<WireRecord[]>): AsyncGenerator<Said> {
    try {
      for await (const answer of transfer) yield { rcode: RCODE.NOERROR, isAuthoritative: true, answer };
    } catch (error) {
      yield this.said(error);
    }
  }

  /** The SOA of a zone; of a name inside of one, that this one has none but its zone has. */
  private async soa(request: DnsRequest): Promise<Said> {
    const [question] = request.message.question;
    if (!question) throw new DnsFault(RCODE.FORMERR, 'there is no question');
    const name = zoneNameOf(request);
    if (question.type !== TYPE.SOA) throw refused('only SOA, AXFR and IXFR are answered here', EDE.NOT_SUPPORTED);
    const soa = await this.backend.soaAbove(name);
    if (!soa) throw refused(`${name || '.'} is in no zone that is managed here`, EDE.NOT_AUTHORITATIVE);
    const isApex = bareName(soa.name) === name;
    return { rcode: RCODE.NOERROR, isAuthoritative: true, [isApex ? 'answer' : 'authority']: [soa] };
  }

  private said(error: unknown): Said {
    if (error instanceof RangeError) return { rcode: RCODE.FORMERR };
    if (!(error instanceof DnsFault) && !(error instanceof AppError)) this.backend.broken(error);
    return saidOf(error instanceof DnsFault ? error : faultOf(error));
  }
}

/** The name of a question of class IN, without final dot. @throws DnsFault */
function zoneNameOf({ message }: DnsRequest): string {
  const [question] = message.question;
  if (question?.class !== CLASS.IN) throw refused('only the class IN is answered here', EDE.NOT_SUPPORTED);
  return bareName(question.name);
}

/** The zone of an update (RFC 2136 section 3.1). @throws DnsFault */
function zoneIn({ message }: DnsRequest): string {
  const [zone] = message.question;
  if (zone?.type !== TYPE.SOA) throw new DnsFault(RCODE.FORMERR, 'the zone section has to name one zone, of type SOA');
  if (zone.class !== CLASS.IN) throw new DnsFault(RCODE.NOTAUTH, 'only the class IN is managed here');
  return bareName(zone.name);
}

/** The serial that an IXFR names (RFC 1995 section 3). @throws DnsFault */
function serialIn(authority: readonly ReadRecord[]): number {
  const soa = authority.find(({ type }) => type === TYPE.SOA);
  const serial = Number(soa?.text.split(' ')[2]);
  if (!soa || Number.isNaN(serial))
    throw new DnsFault(RCODE.FORMERR, 'an IXFR has to have the SOA that the client has');
  return serial;
}
