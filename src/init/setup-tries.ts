import { networkOf } from '../platform/common/cidr.js';
import { wallMs } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';

const MAX_OF_NETWORK = 10;
const MAX_IN_ALL = 100;
const HOUR_MS = 3_600_000;

/**
 * Counts wrong setup codes in the memory of this process, since there is no database yet. A restart forgets them, which
 * only operators of the machine can do.
 */
export class SetupTries {
  private inAll = 0;
  /** no more entries than wrong codes in all */
  private readonly wrong = new Map<string, { since: number; count: number }>();

  /** @throws AppError 403001 after too many in all, 429001 after too many of this network */
  assertLeft(ip: string): void {
    if (this.inAll >= MAX_IN_ALL) throw errors.forbidden('setup_closed');
    const { since, count } = this.of(networkOf(ip));
    const wait = Math.ceil((since + HOUR_MS - wallMs()) / 1000);
    if (count >= MAX_OF_NETWORK) throw errors.tooMany('setup_code_rate_limited', wait);
  }

  failed(ip: string): void {
    const network = networkOf(ip);
    const { since, count } = this.of(network);
    this.wrong.set(network, { since, count: count + 1 });
    this.inAll++;
  }

  private of(network: string): { since: number; count: number } {
    const found = this.wrong.get(network);
    return found && found.since + HOUR_MS > wallMs() ? found : { since: wallMs(), count: 0 };
  }
}
