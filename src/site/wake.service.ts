import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RedisLink } from '../redis/redis-link.js';

const CHANNEL = 'zoneward:events';

/**
 * Says to all processes that there is something to read. Through Redis where there is one: it makes it quicker, no
 * more, since streams look by themselves twice a second.
 */
@Injectable()
export class Wake implements OnModuleInit, OnApplicationShutdown {
  private receiver: Redis | null = null;
  private listening = false;
  /** what wakes the streams of this process */
  listener: () => void = () => undefined;

  constructor(private readonly redis: RedisLink) {}

  onModuleInit(): void {
    // it comes and goes with the link, which sees when Redis freezes: who only listens does not
    this.redis.follow((client) => {
      this.receiver?.disconnect();
      this.receiver = null;
      if (client && this.listening) this.receive(client);
    });
  }

  /** There is something to read. */
  tell(): void {
    this.listener();
    this.redis.client?.publish(CHANNEL, '').catch(() => undefined); // the link tells when it is away
  }

  /** From now on others wake this process, too. */
  listen(): void {
    if (this.listening) return;
    this.listening = true;
    if (this.redis.client) this.receive(this.redis.client);
  }

  onApplicationShutdown(): void {
    this.receiver?.disconnect();
  }

  /** One that subscribed can send nothing else: it has a connection of its own. */
  private receive(client: Redis): void {
    this.receiver = client.duplicate({ lazyConnect: false });
    this.receiver.on('error', () => undefined); // the same for the link
    this.receiver.on('message', () => this.listener());
    // asked anew with every connection
    this.receiver.on('ready', () => void this.receiver?.subscribe(CHANNEL).catch(() => undefined));
  }
}
