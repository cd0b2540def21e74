import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RedisLink } from '../platform/redis/redis-link.js';

const CHANNEL = 'zoneward:events';

/**
 * Tells all processes that there are new events, through Redis where there is one. This only makes streams faster,
 * since they look by themselves twice a second.
 */
@Injectable()
export class Wake implements OnModuleInit, OnApplicationShutdown {
  private receiver: Redis | null = null;
  private listening = false;
  /** what wakes the streams of this process */
  listener: () => void = () => undefined;

  constructor(private readonly redis: RedisLink) {}

  onModuleInit(): void {
    // the receiver follows the link, which notices when Redis freezes: a mere subscriber does not
    this.redis.follow((client) => {
      this.receiver?.disconnect();
      this.receiver = null;
      if (client && this.listening) this.receive(client);
    });
  }

  /** There are new events. */
  tell(): void {
    this.listener();
    this.redis.client?.publish(CHANNEL, '').catch(() => undefined); // the link reports that Redis is unavailable
  }

  /** Lets other processes wake this one from now on. */
  listen(): void {
    if (this.listening) return;
    this.listening = true;
    if (this.redis.client) this.receive(this.redis.client);
  }

  onApplicationShutdown(): void {
    this.receiver?.disconnect();
  }

  /** A connection that subscribed can send nothing else, so the receiver has one of its own. */
  private receive(client: Redis): void {
    this.receiver = client.duplicate({ lazyConnect: false });
    this.receiver.on('error', () => undefined); // the same for the link
    this.receiver.on('message', () => this.listener());
    // subscribes again with every connection
    this.receiver.on('ready', () => void this.receiver?.subscribe(CHANNEL).catch(() => undefined));
  }
}
