import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { CustomFetch } from 'openid-client';
import { type Cidr, inCidrs, parseCidr } from '../../platform/common/cidr.js';
import { timeoutSignal } from '../../platform/common/clock.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { outboundAgent, request } from '../../platform/outbound/agent.js';
import { readBody } from '../../platform/outbound/body.js';
import { assertUrlAllowed } from '../../platform/outbound/guard.js';
import { OutboundError } from '../../platform/outbound/outbound-error.js';

/** Far more than any discovery document, key set or userinfo answer needs. */
const MAX_BODY_MIB = 1;

const LOOPBACK: Cidr[] = ['127.0.0.0/8', '::1/128'].map(parseCidr);

/** Whether an address is plain http, which is allowed on loopback only. */
export const isPlainHttp = (url: string): boolean => new URL(url).protocol === 'http:';

/** The HTTP client for identity providers: checked addresses, no redirects, bounded time and size. */
@Injectable()
export class OauthHttp implements OnApplicationShutdown {
  private readonly agent;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    this.agent = outboundAgent(config.outboundDeny, config.providerTimeoutMs);
  }

  /** Time limit of openid-client in seconds: above that of this client, whose messages are better. */
  get timeout(): number {
    return Math.ceil(this.config.providerTimeoutMs / 1000) + 1;
  }

  /** @throws OutboundError unless the address is https, or http on loopback, and allowed by the outbound rules */
  assertAllowed(url: string): void {
    assertUrlAllowed(url, this.config.outboundDeny);
    const { protocol, hostname, origin } = new URL(url);
    const local = hostname === 'localhost' || inCidrs(hostname.replace(/^\[|\]$/g, ''), LOOPBACK);
    if (protocol === 'http:' && !local) {
      throw new OutboundError('rejected', `The identity provider at ${origin} must use https`);
    }
  }

  /** For `customFetch`. Every address is checked, also those of discovery documents. */
  readonly fetch: CustomFetch = async (url, { method, headers, body }) => {
    this.assertAllowed(url);
    try {
      const answer = await request(url, {
        method: method as 'GET' | 'POST',
        headers,
        body: body ? String(body) : null,
        signal: timeoutSignal(this.config.providerTimeoutMs),
        dispatcher: this.agent,
      });
      const content = await readBody(answer.body, MAX_BODY_MIB);
      const type = String(answer.headers['content-type'] ?? '');
      // these statuses must not have a body
      const empty = [204, 205, 304].includes(answer.statusCode);
      return new Response(empty ? null : content, {
        status: answer.statusCode,
        headers: type ? { 'content-type': type } : {},
      });
    } catch (error) {
      const { name, code, message } = error as { name: string; code?: string; message: string };
      const why = name === 'TimeoutError' ? 'it took too long' : code === 'EOUTBOUND' ? message : (code ?? message);
      throw new OutboundError('unavailable', `The identity provider does not answer (${why})`);
    }
  };

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}
