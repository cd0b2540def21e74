import { createHash } from 'node:crypto';
import { timeMs } from '../../../platform/common/clock.js';
import { cutShort } from '../http/errors.js';
import type { OutgoingRequest } from '../http/http-client.js';

/** Whose signature: an application, and the consumer that it acts for. */
type OvhKey = { application_key?: string; application_secret?: string; consumer_key?: string };

/** ms after which OVH's clock is asked for again */
const CLOCK_MS = 600_000;

/**
 * A request with the headers of OVH's signature (checked with a vector of the public client `ovh` 2.0.3). The URL is
 * part of it as it is sent.
 * @param seconds time of OVH's clock, which refuses what is off
 */
export function signOvh(request: OutgoingRequest, key: OvhKey, seconds: number): OutgoingRequest {
  const { method, url, headers, body = '' } = request;
  const parts = [key.application_secret, key.consumer_key, method, url.href, body, seconds];
  const own = {
    'x-ovh-application': key.application_key ?? '',
    'x-ovh-consumer': key.consumer_key ?? '',
    'x-ovh-timestamp': String(seconds),
    'x-ovh-signature': `$1$${createHash('sha1').update(parts.join('+')).digest('hex')}`,
  };
  return { ...request, headers: { ...headers, ...own } };
}

/** Options of a client that signs by OVH's clock. @param time reads it, in seconds */
export function ovhSigner(key: OvhKey, time: () => Promise<number>) {
  const clock = { ahead: 0, until: 0 };
  return {
    async beforeRequest(request: OutgoingRequest) {
      if (clock.until > timeMs()) return request;
      const seconds = await time();
      if (!Number.isInteger(seconds)) throw cutShort('time');
      Object.assign(clock, { ahead: seconds * 1000 - timeMs(), until: timeMs() + CLOCK_MS });
      return request;
    },
    sign: (request: OutgoingRequest) => signOvh(request, key, Math.floor((timeMs() + clock.ahead) / 1000)),
  };
}
