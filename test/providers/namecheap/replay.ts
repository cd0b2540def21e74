import { namecheap } from '../../../src/providers/namecheap/declaration.js';
import { elements, type ReplaySetup } from '../../support/recordings.js';

const commandOf = (body: unknown): string => String((body as { Command?: string } | undefined)?.Command);

/** Recorded 2020, in the sandbox. */
export const setup: ReplaySetup = {
  definition: namecheap,
  recording: 'namecheap',
  base: '/xml.response',
  credentials: (endpoint) => ({ api_user: 'ada', api_key: 'a-key-for-the-tests', client_ip: '192.0.2.9', endpoint }),
  reads: ({ body }) => !commandOf(body).endsWith('.setHosts'),
  listed({ body: asked }, body) {
    if (!commandOf(asked).endsWith('.getHosts')) return null;
    const answer = body as { ApiResponse?: { CommandResponse?: { DomainDNSGetHostsResult?: { host?: unknown } } } };
    const all = elements(answer.ApiResponse?.CommandResponse?.DomainDNSGetHostsResult?.host) as Record<
      string,
      string
    >[];
    return all.map((host) => ({
      host: `${host['@Name']}`,
      type: `${host['@Type']}`,
      value: ['CNAME', 'MX', 'NS', 'ALIAS'].includes(`${host['@Type']}`)
        ? `${host['@Address']}`.replace(/\.$/, '')
        : `${host['@Address']}`,
      ttl: Number(host['@TTL']),
    }));
  },
};
