import { isIP } from 'node:net';
import { Agent, type Dispatcher, request as requestBy } from 'undici';
import type { Cidr } from '../common/cidr.js';
import { resolveAllAllowed } from './guard.js';

/**
 * A keep-alive agent that connects only to checked addresses and never follows redirects.
 * @param allowH2 HTTP/2, if the server supports it
 */
export function outboundAgent(
  deny: readonly Cidr[],
  timeoutMs: number,
  allow?: readonly Cidr[],
  allowH2 = false,
): Agent {
  return new Agent({
    allowH2,
    keepAliveTimeout: 30_000,
    connect: {
      timeout: timeoutMs,
      // net.connect calls `lookup` only for names; `assertUrlAllowed` checks addresses in URLs
      lookup: (hostname, options, callback) => {
        const answer = callback as (error: Error | null, address?: unknown, family?: number) => void;
        resolveAllAllowed(hostname, deny, allow).then(
          (addresses) => {
            const all = addresses.map((address) => ({ address, family: isIP(address) }));
            return options.all ? answer(null, all) : answer(null, all[0]?.address, all[0]?.family);
          },
          (error: Error) => answer(Object.assign(new Error(error.message), { code: 'EOUTBOUND' })),
        );
      },
    },
  });
}

type RequestOptions = NonNullable<Parameters<typeof requestBy<null>>[1]>;

/** An HTTP call that requires such an agent: without one, undici would resolve names itself, unchecked. */
export const request = (
  url: string | URL,
  options: Omit<RequestOptions, 'dispatcher'> & { dispatcher: Dispatcher },
): Promise<Dispatcher.ResponseData> => requestBy(url, options);
