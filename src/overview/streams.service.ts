import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import { type Principal, Role, signedIn, type ZoneRequest } from '../access/access.js';
import { type Proof, proofOf, Tickets } from '../auth/guard/tickets.service.js';
import { after, type Cancel, every, timeMs } from '../platform/common/clock.js';
import { AppError, errors } from '../platform/common/errors.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { Metrics } from '../platform/metrics/metrics.js';
import type { LoggedEvent } from './event.entity.js';
import { EventLog } from './event-log.service.js';
import { EventVisibility } from './event-visibility.service.js';
import { Wake } from './wake.service.js';

const LOOK_MS = 500;
/** ms after which credentials are checked again; a look that finds events checks them at once */
const JUDGE_MS = 900;
const HEARTBEAT_MS = 15_000;
/** events of one look, and those that a returning stream is sent */
const EVENTS = 200;
const MISSED = 500;
/** credentials that are checked in parallel */
const AT_ONCE = 4;
/** unread bytes of a slow client before it is disconnected; it comes back for the rest */
const MOST_UNREAD = 1_048_576;
const RETRY_MS = 2000;

interface Stream {
  response: Response;
  /** the same for all streams of one credential, which is checked once for all of them */
  key: string;
  judge(): Promise<Principal | null>;
  /** ms; the end of the JWT */
  until: number;
  /** the `Last-Event-ID` of the client, until it has been sent what it missed */
  from: string | undefined;
}

/**
 * Streams of server-sent events. One loop serves all of a process, and looks only while there are streams: a stream
 * holds no connection of the database. Credentials are checked anew before anything is sent, and once a second.
 */
@Injectable()
export class Streams implements OnModuleDestroy {
  private readonly pool = new FairPool('event streams');
  private joining: Stream[] = [];
  private readonly joined = new Set<Stream>();
  /** the newest event that all joined streams were sent */
  private last = 0;
  private judged = 0;
  private looping = false;
  /** why the previous look failed */
  private trouble: string | null = null;
  private stopping = false;
  private awake: (() => void) | null = null;
  /** there may be new events since the last look began */
  private woken = false;
  private stopHeart: Cancel | undefined;

  constructor(
    private readonly events: EventLog,
    private readonly visibility: EventVisibility,
    private readonly wake: Wake,
    private readonly tickets: Tickets,
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    wake.listener = () => this.nudge();
    metrics.provide('zoneward_event_streams', () => ({ open: this.size }));
  }

  /** The number of streams. */
  get size(): number {
    return this.joined.size + this.joining.length;
  }

  /** Turns a request into a stream. @throws AppError 429001 too many of them, 503001 the service ends */
  open(request: ZoneRequest, response: Response, lastEventId: string | undefined): void {
    const { userId } = signedIn(request.caller);
    if (this.stopping) throw errors.notReady('ending', 5);
    // the client disconnected during the guard's checks: there will be no further `close` event
    if (response.destroyed) return;
    const leave = this.pool.takeOrRefuse({ user: userId });
    response.once('close', leave);
    response.status(200);
    response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    // no-transform: neither we nor a proxy compress it, which would hold events back
    response.setHeader('Cache-Control', 'no-store, no-transform');
    response.setHeader('X-Accel-Buffering', 'no');
    // a connection that is kept alive after its stream would delay the end of the service
    response.setHeader('Connection', 'close');
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    response.write(`retry: ${RETRY_MS}\n\n`);
    const stream: Stream = { response, from: lastEventId, ...this.credentialOf(request) };
    this.joining.push(stream);
    response.once('close', () => this.forget(stream));
    this.stopHeart ??= every(HEARTBEAT_MS, () => this.beat());
    this.wake.listen();
    this.nudge();
    if (!this.looping) void this.loop();
  }

  /** Before the server waits for its requests: a stream would never end. */
  onModuleDestroy(): void {
    this.stopping = true;
    this.stopHeart?.();
    for (const stream of [...this.joined, ...this.joining]) this.end(stream);
    this.nudge();
  }

  private credentialOf(request: ZoneRequest): Pick<Stream, 'key' | 'judge' | 'until'> {
    const { ip } = request.caller;
    const proof = (request.ticket as Proof | undefined) ?? proofOf(request);
    const judge = () => this.tickets.judge(proof, ip, false);
    return 'hash' in proof
      ? { key: `${proof.hash}|${ip}`, judge, until: Number.POSITIVE_INFINITY }
      : { key: `${proof.sid}|${ip}`, judge, until: proof.exp * 1000 };
  }

  private nudge(): void {
    this.woken = true;
    this.awake?.();
  }

  private async loop(): Promise<void> {
    this.looping = true;
    while (this.size && !this.stopping) {
      this.woken = false;
      await this.look().then(
        () => {
          this.trouble = null;
        },
        ({ message }: Error) => {
          if (message !== this.trouble) this.logger.warn({ err: message }, 'streams of events cannot look');
          this.trouble = message;
        },
      );
      if (!this.woken) await this.pause();
      this.awake = null;
    }
    this.looping = false;
  }

  private async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = after(LOOK_MS, resolve);
      this.awake = () => {
        cancel();
        resolve();
      };
    });
  }

  private async look(): Promise<void> {
    if (!this.joined.size) this.last = await this.events.newest();
    // a stream that fails because the database is unavailable is left for the next look
    for (const stream of [...this.joining]) {
      await this.join(stream);
      this.joining = this.joining.filter((other) => other !== stream);
    }
    const events = await this.events.after(this.last, EVENTS);
    if (!events.length && timeMs() < this.judged + JUDGE_MS) return;
    // what a failure of the database leaves unsent is sent at the next look, to some streams a second time
    const groups = new Map<string, Stream[]>();
    for (const stream of this.joined) groups.set(stream.key, [...(groups.get(stream.key) ?? []), stream]);
    const texts = new Map<string, Promise<string>>();
    const waiting = [...groups.values()];
    // uses several connections of the database, but never all of them
    const some = Array.from({ length: AT_ONCE }, async () => {
      for (let streams = waiting.shift(); streams; streams = waiting.shift()) await this.serve(streams, events, texts);
    });
    await Promise.all(some);
    this.judged = timeMs();
    this.last = events.at(-1)?.id ?? this.last;
    if (events.length === EVENTS) this.woken = true;
  }

  /** Sends a stream where it begins, or what it has missed. */
  private async join(stream: Stream): Promise<void> {
    const { from } = stream;
    const me = await this.principalOf(stream);
    if (!me) return this.end(stream);
    const seen = from !== undefined && /^\d{1,15}$/.test(from) ? Number(from) : null;
    // a number beyond the newest is of another database, or of a replica that is ahead of this one
    const missed =
      seen === null || seen > (await this.events.newest())
        ? null
        : await this.events.missed(seen, Math.max(seen, this.last), MISSED);
    if (from === undefined) this.write(stream, frame(this.last, 'ready', {}));
    else if (!missed) this.write(stream, frame(this.last, 'reset', { reason: 'gone' }));
    else
      this.write(stream, (await this.visibility.visibleTo(me, missed)).map(frameOf).join('') || `id: ${this.last}\n\n`);
    // the client may have disconnected meanwhile, or the service is ending
    if (isOpen(stream)) this.joined.add(stream);
  }

  /** @param texts what this look sends: the same for all sessions of a user, and for all administrators */
  private async serve(
    streams: readonly Stream[],
    events: readonly LoggedEvent[],
    texts: Map<string, Promise<string>>,
  ): Promise<void> {
    const [{ key }] = streams as [Stream];
    const me = await this.principalOf(streams[0] as Stream);
    let text = '';
    if (me && events.length) {
      const who = me.token ? key : me.role >= Role.Admin ? 'administrators' : String(me.userId);
      const found = texts.get(who) ?? this.visibility.visibleTo(me, events).then((mine) => mine.map(frameOf).join(''));
      texts.set(who, found);
      text = await found;
    }
    for (const stream of streams) {
      if (!me || timeMs() >= stream.until) this.end(stream);
      else this.write(stream, text);
    }
  }

  /** Null: the credential is no longer valid. @throws Error while the database is unavailable */
  private async principalOf({ judge }: Stream): Promise<Principal | null> {
    try {
      const me = await judge();
      return me?.lacksSecondFactor ? null : me;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  private beat(): void {
    // an id alone is no event, but the next `Last-Event-ID`: a stream without events for a day missed nothing
    for (const stream of this.joined) this.write(stream, `:\nid: ${this.last}\n\n`);
  }

  private write(stream: Stream, text: string): void {
    const { response } = stream;
    if (!text || !isOpen(stream)) return;
    response.write(text);
    if (response.writableLength > MOST_UNREAD) response.destroy();
  }

  private end(stream: Stream): void {
    this.forget(stream);
    stream.response.end();
  }

  private forget(stream: Stream): void {
    this.joined.delete(stream);
    this.joining = this.joining.filter((other) => other !== stream);
    if (this.size) return;
    this.stopHeart?.();
    this.stopHeart = undefined;
  }
}

const isOpen = ({ response }: Stream) => !response.writableEnded && !response.destroyed;

const frame = (id: number, event: string, data: object) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const frameOf = ({ id, type, data }: LoggedEvent) => frame(id, type, data);
