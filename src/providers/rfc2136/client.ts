import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import { sign, TsigError, type TsigKey, TsigVerifier } from '../../dns/tsig.js';
import {
  CLASS,
  decode,
  encode,
  type Message,
  OPCODE,
  RCODE,
  type ReadRecord,
  TRANSFER,
  TYPE,
  type WireRecord,
} from '../../dns/wire.js';
import { after, monotonicMs, timeMs } from '../../platform/common/clock.js';
import { frame, framed, TooLate } from '../../platform/dns-client/stream.js';
import { tcpTo } from '../../platform/outbound/sockets.js';
import { assertHeld, currentContext, currentDeadline } from '../kit/http/deadline-context.js';
import { asProviderError, NotBegun, ProviderError } from '../kit/http/errors.js';

/** A server and how to reach it. */
export interface DnsServer {
  host: string;
  port: number;
  /** ms for connecting, and for each message that is waited for */
  timeoutMs: number;
  /** name to address under the outbound rules. @throws ProviderError */
  resolve(host: string): Promise<string>;
}

const RCODES: Record<number, [ProviderError['kind'], string]> = {
  1: ['rejected', 'FORMERR: it does not understand the request'],
  2: ['unavailable', 'SERVFAIL: it failed; its log says why'],
  3: ['not_found', 'NXDOMAIN: it does not know the name'],
  4: ['rejected', 'NOTIMP: it does not take updates'],
  5: ['auth', 'REFUSED: the key has no right to do this, or the server does not serve the zone'],
  9: ['auth', 'NOTAUTH: it does not serve the zone, or does not accept the key'],
  10: ['not_found', 'NOTZONE: a name is outside the zone'],
};

/** An rcode that is not wanted as an error that names the zone or record and the server's words. */
export function rcodeError(rcode: number, what: string): ProviderError {
  const [kind, words] = RCODES[rcode] ?? ['rejected', `rcode ${rcode}`];
  return new ProviderError(kind, `${what}: the server answered ${words}`);
}

const EXPECTED: ReadonlySet<number> = new Set([RCODE.NOERROR, RCODE.YXDOMAIN, RCODE.YXRRSET, RCODE.NXRRSET]);

/** A transfer larger than this is no zone that one would edit here. */
const MAX_TRANSFER_BYTES = 256 * 1024 * 1024;
const MOST_TRANSFERRED = 1_000_000;
/** ms of reading a transfer between two turns of the event loop */
const TURN_MS = 10;
const MAX_MESSAGE_BYTES = 65535;
const CONCURRENCY = 8;

/** Signed queries, transfers and updates over TCP (RFC 7766), a connection for each. */
export class DnsClient {
  private readonly queue = new PQueue({ concurrency: CONCURRENCY });

  constructor(
    private readonly server: DnsServer,
    private readonly key: TsigKey,
  ) {}

  /**
   * The server's answer to a question, whatever its rcode.
   * @throws ProviderError when there is none that can be trusted
   */
  query(name: string, type: number): Promise<Message> {
    return this.exchange(OPCODE.QUERY, { name, type }, undefined, async (messages) => first(messages));
  }

  /**
   * One UPDATE (RFC 2136); without updates it only tests the prerequisites. Applied in full or not at all.
   * @returns NOERROR, or YXDOMAIN, YXRRSET or NXRRSET when a prerequisite does not hold
   * @throws ProviderError for every other rcode; `auth` for REFUSED when only prerequisites are tested, else `rejected`
   */
  async update(zone: string, prerequisites: WireRecord[], updates: WireRecord[]): Promise<number> {
    const question = { name: zone, type: TYPE.SOA };
    const sections: [WireRecord[], WireRecord[]] = [prerequisites, updates];
    const { rcode } = await this.exchange(OPCODE.UPDATE, question, sections, async (messages) => first(messages));
    if (EXPECTED.has(rcode)) return rcode;
    if (rcode === RCODE.REFUSED && updates.length) {
      // the key was good for the test of the prerequisites: it is the content that the server does not want
      throw new ProviderError(
        'rejected',
        `Update of ${zone}: the server answered REFUSED: its rules (update policy, check-names) forbid this name or value`,
      );
    }
    throw rcodeError(rcode, `Update of ${zone}`);
  }

  /**
   * All records of a zone (AXFR, RFC 5936), the SOA once, at the start.
   * @throws ProviderError `unavailable` when the transfer does not end with the SOA that it began with
   */
  transfer(zone: string): Promise<ReadRecord[]> {
    const question = { name: zone, type: TYPE.AXFR };
    return this.exchange(OPCODE.QUERY, question, undefined, (messages) => transferred(zone, messages));
  }

  private exchange<T>(
    opcode: number,
    question: { name: string; type: number },
    sections: [WireRecord[], WireRecord[]] | undefined,
    read: (messages: AsyncGenerator<Message>) => Promise<T>,
  ): Promise<T> {
    const deadline = currentDeadline();
    // taken here: the queue runs the body in the context of whichever call freed the slot
    const doing = currentContext();
    return this.queue.add(async () => {
      if (monotonicMs() >= deadline) throw new NotBegun('unavailable', 'The time for the call is over');
      const address = await this.server.resolve(this.server.host);
      const id = randomInt(65536);
      const { signed, mac } = sign(
        toWire(() => encode(id, opcode, question, sections)),
        this.key,
        Math.floor(timeMs() / 1000),
      );
      if (signed.length > MAX_MESSAGE_BYTES) {
        throw new ProviderError('rejected', 'The record sets are larger than one DNS message can hold (65 535 bytes)');
      }
      const socket = await this.connect(address);
      // a transfer may come piece by piece for as long as it likes
      const over = () => socket.destroy(new TooLate('the time for the call is over'));
      const left = deadline - monotonicMs();
      const cancel = Number.isFinite(left) ? after(left, over) : undefined;
      const verifier = new TsigVerifier(this.key, mac);
      let sent = false;
      try {
        assertHeld(doing);
        sent = true;
        socket.write(frame(signed));
        const result = await read(this.messages(socket, id, opcode, question, verifier));
        verifier.complete();
        return result;
      } catch (error) {
        throw this.failure(error, sent, !!sections?.[1].length);
      } finally {
        cancel?.();
        socket.destroy();
      }
    });
  }

  /** @param writes whether it is an UPDATE with something to do: only that can have changed anything */
  private failure(error: unknown, sent: boolean, writes: boolean): ProviderError {
    const failure = error instanceof ProviderError ? error : this.broken(error);
    if (!writes) return new ProviderError(failure.kind, failure.message, false);
    // without an answer that can be trusted it may still be carried out
    return sent && failure.mayHaveApplied ? failure.lateBy('once') : failure;
  }

  private broken(error: unknown): ProviderError {
    const { host, port } = this.server;
    if (error instanceof TsigError) return new ProviderError(error.kind, error.message, error.mayHaveApplied);
    const { message } = asProviderError(error);
    return error instanceof RangeError
      ? new ProviderError('unavailable', `${host} port ${port} sent a broken DNS message: ${message}`)
      : new ProviderError('unavailable', `The connection to ${host} port ${port} failed: ${message}`);
  }

  private connect(address: string): Promise<Socket> {
    const { host, port, timeoutMs } = this.server;
    return new Promise((resolve, reject) => {
      const socket = tcpTo(address, port);
      const refuse = (why: string) => {
        socket.destroy();
        reject(new ProviderError('unavailable', `No connection to ${host} port ${port}: ${why}`, false));
      };
      const cancel = after(timeoutMs, () => refuse(`no answer within ${timeoutMs} ms`));
      // stays for the life of the socket: whoever reads from it learns of the failure there
      socket.on('error', (error: NodeJS.ErrnoException) => {
        cancel();
        refuse(error.code ?? error.message);
      });
      socket.once('connect', () => {
        cancel();
        resolve(socket);
      });
    });
  }

  /** Verified messages of the answer as they arrive, each within the time limit. */
  private async *messages(
    socket: Socket,
    id: number,
    opcode: number,
    question: { name: string; type: number },
    verifier: TsigVerifier,
  ): AsyncGenerator<Message> {
    for await (const raw of framed(socket, this.server.timeoutMs)) {
      const message = decode(raw, TRANSFER);
      const asked = message.question[0];
      if (!message.response || message.id !== id || message.opcode !== opcode || message.truncated) {
        throw new RangeError('it is not the answer to the request');
      }
      // later messages of a transfer may leave the question out (RFC 5936 section 2.2.1)
      if (asked && asked.type !== question.type) throw new RangeError('it answers another question');
      verifier.accept(raw, message);
      yield message;
    }
  }
}

function toWire(build: () => Buffer): Buffer {
  try {
    return build();
  } catch (error) {
    throw new ProviderError('rejected', error instanceof Error ? error.message : String(error));
  }
}

/** The records of a transfer up to the SOA that ends it. @throws ProviderError */
async function transferred(zone: string, messages: AsyncGenerator<Message>): Promise<ReadRecord[]> {
  const cut = (why: string) => new ProviderError('unavailable', `The transfer of ${zone} was cut short: ${why}`);
  const records: ReadRecord[] = [];
  let bytes = 0;
  let turn = performance.now();
  for await (const message of messages) {
    if (message.rcode !== RCODE.NOERROR) throw rcodeError(message.rcode, `Transfer of ${zone}`);
    const [answer] = message.sections;
    if (!answer.length) throw cut('a message has no records');
    if (takeUpToSoa(records, answer, cut)) return records;
    bytes += answer[0]?.message.length ?? 0;
    if (bytes > MAX_TRANSFER_BYTES) throw cut('it is larger than 256 MiB');
    if (records.length > MOST_TRANSFERRED) throw cut(`it has more than ${MOST_TRANSFERRED} records`);
    if (performance.now() - turn > TURN_MS) {
      await nextTurn();
      turn = performance.now();
    }
  }
  throw cut('the connection ended before the closing SOA');
}

/** Takes the records of a message over, from the first SOA up to the second. @returns whether this one was there */
function takeUpToSoa(
  records: ReadRecord[],
  answer: readonly ReadRecord[],
  cut: (why: string) => ProviderError,
): boolean {
  for (const record of answer) {
    if (records.length === 0 && record.type !== TYPE.SOA) throw cut('it does not begin with the SOA');
    if (records.length > 0 && record.type === TYPE.SOA) return true;
    records.push(record);
  }
  return false;
}

async function first(messages: AsyncGenerator<Message>): Promise<Message> {
  for await (const message of messages) return message;
  throw new ProviderError('unavailable', 'The server closed the connection without an answer');
}

/**
 * Prerequisite "value-dependent RRset exists", or "does not exist" without rdata (RFC 2136 sections 2.4.2 and 2.4.3).
 */
export function prerequisite(name: string, type: number, rdata: Buffer[]): WireRecord[] {
  return rdata.length
    ? rdata.map((bytes) => ({ name, type, class: CLASS.IN, ttl: 0, rdata: bytes }))
    : [{ name, type, class: CLASS.NONE, ttl: 0, rdata: Buffer.alloc(0) }];
}

/** `invalid.`, a name that nobody has (RFC 2606 section 2), in wire form. */
const NOBODY = Buffer.from('\x07invalid\0', 'latin1');

/**
 * Updates that make a set hold `wanted`: first the deletions, then the additions of all sets, so that one type can take
 * another's place. A server ignores the deletion of the apex NS set as a whole and of its last member (RFC 2136 section
 * 3.4.2.4): there members are deleted one by one, after the additions. Knot (seen on 3.2) ignores an
 * addition that only differs in its TTL, but gives all of the set that of a new member: such a one comes and goes.
 */
export function replacement(
  { name, type, ttl, movesTtl }: Pick<WireRecord, 'name' | 'type' | 'ttl'> & { movesTtl: boolean },
  wanted: Buffer[],
  was: Buffer[],
  apexNs: boolean,
): { before: WireRecord[]; additions: WireRecord[]; after: WireRecord[] } {
  const adding = (rdata: Buffer) => ({ name, type, class: CLASS.IN, ttl, rdata });
  const additions = wanted.map(adding);
  if (!apexNs) {
    const before = was.length ? [{ name, type, class: CLASS.ANY, ttl: 0, rdata: Buffer.alloc(0) }] : [];
    return { before, additions, after: [] };
  }
  const gone = was.filter((old) => !wanted.some((rdata) => rdata.equals(old)));
  const guest = movesTtl && was.length && !wanted.some((rdata) => rdata.equals(NOBODY)) ? [NOBODY] : [];
  const after = [...gone, ...guest].map((rdata) => ({ name, type, class: CLASS.NONE, ttl: 0, rdata }));
  return { before: [], additions: [...additions, ...guest.map(adding)], after };
}
