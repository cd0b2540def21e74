import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

const CHANNEL = 'zoneward:events';
const QUICK = { enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResubscribe: false };

/**
 * Says to all processes that there is something to read. Through Redis where there is one: it makes it quicker, no
 * more, since streams look by themselves twice a second.
 */
@Injectable()
export class Wake implements OnApplicationShutdown {
  private readonly clients: Redis[] = [];
  private sender: Promise<Redis> | null = null;
  private receiver: Promise<Redis> | null = null;
  private away = false;
  /** what wakes the streams of this process */
  listener: () => void = () => undefined;

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** There is something to read. */
  tell(): void {
    this.listener();
    if (!this.config.redisUrl) return;
    this.sender ??= this.connect(this.config.redisUrl);
    this.sender
      .then((client) => (client.status === 'ready' ? client.publish(CHANNEL, '') : 0))
      .catch((error: Error) => this.lost(error));
  }

  /** From now on others wake this process, too. */
  listen(): void {
    if (!this.config.redisUrl || this.receiver) return;
    this.receiver = this.connect(this.config.redisUrl);
    this.receiver
      .then(async (client) => {
        client.on('message', () => this.listener());
        // asked anew with every connection
        client.on('ready', () => void client.subscribe(CHANNEL).catch((error: Error) => this.lost(error)));
        if (client.status === 'ready') await client.subscribe(CHANNEL);
      })
      .catch((error: Error) => this.lost(error));
  }

  onApplicationShutdown(): void {
    for (const client of this.clients) client.disconnect();
  }

  private async connect(url: string): Promise<Redis> {
    const { Redis: Client } = await import('ioredis');
    const client = new Client(url, { lazyConnect: true, ...QUICK });
    this.clients.push(client);
    client.on('error', (error: Error) => this.lost(error));
    client.on('ready', () => {
      this.away = false;
    });
    client.connect().catch(() => undefined); // told by the error event
    return client;
  }

  private lost(error: Error): void {
    if (!this.away) log().warn({ err: error.message }, 'Redis does not answer; streams of events look for themselves');
    this.away = true;
  }
}
