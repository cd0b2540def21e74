import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { timeMs, timeoutSignal } from '../platform/common/clock.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { outboundAgent, request } from '../platform/outbound/agent.js';
import { readBody } from '../platform/outbound/body.js';
import { assertUrlAllowed } from '../platform/outbound/guard.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import { retryAfter } from '../platform/outbound/retry-after.js';
import type { StoredChannel } from '../settings/channels.js';
import { words } from './mail-error.js';
import { type Message, outgoing, refusal, secretsOf } from './messages.js';

const MAX_BODY_MIB = 1;
const CONNECT_MS = 10_000;

/** A channel did not accept a message. The error's message is for administrators, and holds no secret. */
export class ChannelError extends Error {
  constructor(
    message: string,
    /** it was understood and refused: the same message will hardly be accepted later */
    readonly refused = false,
    /** ms that the receiver asks to wait */
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** Statuses that concern the address, the secret or the moment, not the message. */
const MAY_CHANGE = [401, 403, 404, 407, 408, 410, 421, 425, 429];

/**
 * Hands messages to channels over HTTP: to public addresses and those of OUTBOUND_ALLOW. Redirects are not followed.
 */
@Injectable()
export class Hooks implements OnApplicationShutdown {
  private readonly agent;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    this.agent = outboundAgent(config.outboundDeny, CONNECT_MS, config.outboundAllow);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /** @param channel with its secrets in plain text. @throws ChannelError */
  async send(channel: StoredChannel, message: Message, limitMs: number): Promise<void> {
    const { url, headers, body } = outgoing(channel, message, timeMs());
    const { outboundDeny, outboundAllow } = this.config;
    let answer: Awaited<ReturnType<typeof request>>;
    let text: string;
    try {
      assertUrlAllowed(url, outboundDeny, outboundAllow);
      const signal = timeoutSignal(limitMs);
      answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: this.agent });
      // a truncated body does not matter where the status says enough
      text = await readBody(answer.body, MAX_BODY_MIB).then(String, () => '');
    } catch (error) {
      throw new ChannelError(words(connectionWords(error, limitMs), secretsOf(channel)));
    }
    const status = answer.statusCode;
    const wrong = refusal(channel, status, text);
    if (!wrong) return;
    const refused = status >= 400 && status < 500 && !MAY_CHANGE.includes(status);
    const waitMs = retryAfter(answer.headers['retry-after']);
    throw new ChannelError(`It was not taken: ${words(wrong, secretsOf(channel))}`, refused, waitMs);
  }
}

/** Describes a failed connection, naming nothing of the address but its host. */
function connectionWords(error: unknown, limitMs: number): string {
  const { name, code, message } = error as { name?: string; code?: string; message: string };
  if (error instanceof OutboundError || code === 'EOUTBOUND') return message;
  if (name === 'TimeoutError') return `There was no answer within ${limitMs / 1000} s`;
  return `It cannot be reached or broke the connection (${code ?? 'unknown error'})`;
}
