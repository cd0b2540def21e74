import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { RCODE, readableTexts, TYPE } from '../../dns/wire.js';
import { DnsClient, NoAnswer, type Question, type Reply } from '../../platform/dns-client/dns-client.service.js';
import { type Upstream, upstreamOf } from '../../platform/dns-client/upstream.js';
import { systemResolvers } from '../../platform/outbound/lookup.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { Look } from './looks.service.js';

/** ms for one resolver; the next one is asked then */
const LIMIT_MS = 3000;

/** The resolvers of the settings (`dns_resolvers`), or those of the system. */
@Injectable()
export class Resolvers {
  constructor(
    private readonly dns: DnsClient,
    private readonly settings: SettingsService,
  ) {}

  async all(): Promise<Upstream[]> {
    const { dns_resolvers } = await this.settings.read('general');
    return (dns_resolvers.length ? dns_resolvers : systemResolvers()).flatMap((text) => upstreamOf(text) ?? []);
  }

  /**
   * The answer of the first resolver that has one: NOERROR or NXDOMAIN.
   * @throws NoAnswer when none of them does
   */
  async query(question: Question, { signal, effort }: Omit<Look, 'allow'>): Promise<Reply> {
    let why = 'no resolver is configured';
    for (const server of await this.all()) {
      try {
        const reply = await this.dns.ask(server, question, { recurse: true, timeoutMs: LIMIT_MS, signal, effort });
        if (reply.rcode === RCODE.NOERROR || reply.rcode === RCODE.NXDOMAIN) return reply;
        why = `the resolver ${server.host} answered rcode ${reply.rcode}`;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        why = `the resolver ${server.host}: ${error.message}`;
      }
    }
    throw new NoAnswer(why);
  }

  /** IPv4 and IPv6 addresses of a host, none when it has none or no resolver answers. */
  async addresses(name: string, look: Omit<Look, 'allow'>): Promise<string[]> {
    if (isIP(name)) return [name];
    const of = async (type: number) => {
      const reply = await this.query({ name, type }, look).catch(() => null);
      return readableTexts((reply?.sections[0] ?? []).filter((record) => record.type === type));
    };
    return (await Promise.all([of(TYPE.A), of(TYPE.AAAA)])).flat();
  }
}
