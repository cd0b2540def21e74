import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { timeoutSignal } from '../../platform/common/clock.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { outboundAgent, request } from '../../platform/outbound/agent.js';
import { readBody } from '../../platform/outbound/body.js';
import { assertUrlAllowed } from '../../platform/outbound/guard.js';
import { retryAfter } from '../../platform/outbound/retry-after.js';
import { RegistrySilence } from './answers.js';
import { RegistryServers } from './registry-servers.service.js';

const MAX_BODY_MIB = 4;
const MAX_HOPS = 5;
const LIMIT_MS = 15_000;
/** some registries refuse the first media type alone */
const ACCEPT = 'application/rdap+json, application/json';

/** An answer, after redirects. */
export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** host of the server that gave it */
  server: string;
}

/**
 * GET for RDAP: public addresses and those of OUTBOUND_ALLOW only, redirects followed and each checked again, bounded
 * time and size, no more often than each server bears.
 */
@Injectable()
export class RdapHttp implements OnApplicationShutdown {
  private readonly agent;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly servers: RegistryServers,
  ) {
    this.agent = outboundAgent(config.outboundDeny, LIMIT_MS, config.outboundAllow);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /** Asks about a name. @returns the body of a 200. @throws RegistrySilence, or the signal's reason */
  async ask(base: string, name: string, signal: AbortSignal): Promise<string> {
    const url = `${base}domain/${encodeURIComponent(name)}`;
    const { status, headers, body, server } = await this.get(url, { accept: ACCEPT }, signal);
    if (status === 429 || (status === 503 && headers['retry-after'])) {
      const asked = retryAfter(headers['retry-after']) ?? null;
      const pause = await this.servers.failed(server, 'limited', `${server} takes no more questions`, asked);
      throw new RegistrySilence('limited', `${server} takes no more questions for now (HTTP ${status})`, pause);
    }
    if (status >= 500) throw await this.unavailable(server, `HTTP ${status}`);
    await this.servers.answered(server);
    if (status === 200) return body;
    if (status === 404) throw new RegistrySilence('unregistered', `${server} knows no registration of ${name}`);
    throw new RegistrySilence('unreadable', `${server} answered HTTP ${status}`);
  }

  /** @throws RegistrySilence, or the signal's reason */
  async get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<HttpAnswer> {
    let at = url;
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const server = (URL.canParse(at) ? new URL(at).host : at).slice(0, 100);
      try {
        assertUrlAllowed(at, this.config.outboundDeny, this.config.outboundAllow);
      } catch (error) {
        throw new RegistrySilence('unreadable', `${server}: ${(error as Error).message}`);
      }
      await this.servers.turn(server, signal);
      const answer = await this.once(at, headers, server, signal);
      if (typeof answer !== 'string') return answer;
      at = URL.canParse(answer, at) ? new URL(answer, at).href : answer;
    }
    throw new RegistrySilence('unreadable', `${new URL(url).host} leads in a circle`);
  }

  /** @returns where it redirects to, or the answer */
  private async once(
    url: string,
    headers: Record<string, string>,
    server: string,
    patience: AbortSignal,
  ): Promise<HttpAnswer | string> {
    try {
      const answer = await request(url, {
        headers: { ...headers, 'user-agent': 'zoneward' },
        signal: AbortSignal.any([patience, timeoutSignal(LIMIT_MS)]),
        dispatcher: this.agent,
      });
      const { location } = answer.headers;
      const body = String(await readBody(answer.body, MAX_BODY_MIB));
      const { statusCode: status } = answer;
      if ([301, 302, 303, 307, 308].includes(status) && typeof location === 'string') return location;
      return { status, headers: answer.headers, body, server };
    } catch (error) {
      // the caller has given up: that is no failure of the server
      patience.throwIfAborted();
      const { name, code, message } = error as { name: string; code?: string; message: string };
      throw await this.unavailable(server, name === 'TimeoutError' ? 'it takes too long' : `${code ?? message}`);
    }
  }

  private async unavailable(server: string, why: string): Promise<RegistrySilence> {
    const words = `${server} does not answer (${why})`;
    return new RegistrySilence('unavailable', words, await this.servers.failed(server, 'unavailable', words, null));
  }
}
