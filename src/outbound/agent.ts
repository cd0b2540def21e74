import { isIP } from 'node:net';
import { Agent } from 'undici';
import type { Cidr } from '../common/cidr.js';
import { resolveAllowed } from './guard.js';

/**
 * A keep-alive agent that connects only to addresses that it has checked itself. Redirects are never followed.
 * @param allowH2 HTTP/2, where the server has it
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
      // net.connect asks `lookup` for names only; addresses in URLs are checked by `assertUrlAllowed`
      lookup: (hostname, options, callback) => {
        const answer = callback as (error: Error | null, address?: unknown, family?: number) => void;
        resolveAllowed(hostname, deny, allow).then(
          (address) =>
            options.all ? answer(null, [{ address, family: isIP(address) }]) : answer(null, address, isIP(address)),
          (error: Error) => answer(Object.assign(new Error(error.message), { code: 'EOUTBOUND' })),
        );
      },
    },
  });
}
