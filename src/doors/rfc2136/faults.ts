import { RCODE } from '../../dns/wire.js';
import { AppError } from '../../platform/common/errors.js';
import { OutboundError } from '../../platform/outbound/outbound-error.js';
import { PASSING } from '../kit/passing.js';
import { DnsFault, EDE } from './dns-request.js';

const reasonOf = ({ data }: AppError): unknown => (data as { reason?: unknown } | undefined)?.reason;

/** Whether a provider would refuse the same again, and has done nothing of it. */
const refusesForGood = (error: AppError): boolean =>
  error instanceof OutboundError && !error.mayHaveApplied && !error.data.retryable;

/** A failure of ours in the words of DNS: what may pass is SERVFAIL, what does not is REFUSED. */
export function faultOf(error: unknown): DnsFault {
  if (!(error instanceof AppError)) return new DnsFault(RCODE.SERVFAIL, 'internal error');
  const { status, message } = error;
  if (status === 404) return new DnsFault(RCODE.NOTAUTH, message, EDE.NOT_AUTHORITATIVE);
  if (status === 503) return new DnsFault(RCODE.SERVFAIL, message, EDE.NOT_READY);
  if (refusesForGood(error)) return new DnsFault(RCODE.REFUSED, message, EDE.PROHIBITED);
  if (status >= 500) return new DnsFault(RCODE.SERVFAIL, message, EDE.NO_REACHABLE_AUTHORITY);
  if (status === 412 || status === 429 || PASSING.has(reasonOf(error))) return new DnsFault(RCODE.SERVFAIL, message);
  return new DnsFault(RCODE.REFUSED, message, EDE.PROHIBITED);
}
