import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { type Cancel, every } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

/** ms that an answer may take, after which callers go on without Redis; and between two pings */
const ANSWER_MS = 500;
const LOOK_MS = 1000;
/** pings in a row without an answer after which Redis counts as unavailable */
const MISSES = 2;

/** none: it is not used; away: the service works without it */
type RedisState = 'none' | 'up' | 'away';

/**
 * The connection of this process to Redis, which all senders of short commands share. It is pinged all the time, since
 * a server that froze keeps its connections.
 */
@Injectable()
export class RedisLink implements OnApplicationShutdown {
  private redis: Redis | null = null;
  private starting: Promise<void> | null = null;
  private stopLooking: Cancel | undefined;
  private up = false;
  private away = false;
  private stopped = false;
  private misses = 0;
  private readonly listeners: ((client: Redis | null) => void)[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'redisUrl'>,
    private readonly logger: Logger,
  ) {}

  /** The client; null: Redis is unavailable. Commands fail after half a second, and are not sent again. */
  get client(): Redis | null {
    return this.up ? this.redis : null;
  }

  get state(): RedisState {
    if (!this.config.redisUrl) return 'none';
    return this.up ? 'up' : 'away';
  }

  /** Begins to connect, once, and goes on trying. Does not wait: Redis may become available later. */
  start(): void {
    if (this.config.redisUrl && !this.stopped) this.starting ??= this.connect(this.config.redisUrl);
  }

  /** Connects, and calls the listener when Redis becomes available (the client) or unavailable (null). */
  follow(listener: (client: Redis | null) => void): void {
    this.listeners.push(listener);
    if (this.up) listener(this.redis);
    this.start();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    this.stopLooking?.();
    this.redis?.disconnect();
  }

  /** Loads the package only when it is needed. */
  private async connect(url: string): Promise<void> {
    const { Redis: Client } = await import('ioredis');
    if (this.stopped) return;
    const quick = { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: ANSWER_MS };
    // a frozen server does not answer when the connection is closed either
    const client = new Client(url, { lazyConnect: true, disconnectTimeout: ANSWER_MS, ...quick });
    this.redis = client;
    client.on('error', (error: Error) => this.lost(error.message));
    client.on('close', () => this.lost('the connection was closed'));
    client.on('ready', () => this.back());
    client.connect().catch(() => undefined); // the error event reports it
    this.stopLooking = every(LOOK_MS, () => void this.look());
  }

  private async look(): Promise<void> {
    const { client } = this;
    if (!client) return;
    try {
      await client.ping();
      this.misses = 0;
    } catch (error) {
      this.misses += 1;
      if (this.misses < MISSES || !this.up || this.stopped) return;
      this.lost((error as Error).message);
      client.disconnect(true);
    }
  }

  private back(): void {
    if (this.stopped || this.up) return;
    this.up = true;
    this.misses = 0;
    if (this.away) this.logger.info('Redis answers again');
    this.away = false;
    for (const listener of this.listeners) listener(this.redis);
  }

  private lost(reason: string): void {
    const { up } = this;
    this.up = false;
    if (this.stopped) return;
    if (!this.away)
      this.logger.warn(
        { err: reason },
        'Redis does not answer; rates are counted by each process, jobs and events are found in the database',
      );
    this.away = true;
    if (up) for (const listener of this.listeners) listener(null);
  }
}
