import { OutboundError } from '../outbound/outbound-error.js';

/** What adapters throw: providers are among those whom the service calls. */
export {
  clipped,
  OutboundError as ProviderError,
  type OutboundErrorKind as ProviderErrorKind,
} from '../outbound/outbound-error.js';

/** Any failure as a ProviderError; what is not one is a defect of an adapter and counts as "unavailable". */
export const asProviderError = (error: unknown): OutboundError =>
  error instanceof OutboundError
    ? error
    : new OutboundError('unavailable', error instanceof Error ? error.message : String(error));
