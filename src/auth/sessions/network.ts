import { inCidrs, parseCidr } from '../../platform/common/cidr.js';
import { errors } from '../../platform/common/errors.js';
import type { SecuritySettings } from '../../settings/settings.dto.js';

/** @throws AppError 403001 for an address outside of the networks that may sign in */
export function assertNetwork({ allowed_cidrs }: SecuritySettings, ip: string): void {
  if (allowed_cidrs.length && !inCidrs(ip, allowed_cidrs.map(parseCidr)))
    throw errors.forbidden('sign_in_network', {}, { required: 'network' });
}
