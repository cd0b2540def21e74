import { Waits } from '../../changes/gate/waits.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { ProviderError } from '../../providers/kit/http/errors.js';
import { SetChanged } from '../../records/rrsets/rrsets.service.js';
import { isAsLeft, sameValues, type Target } from './checks/decide.js';
import type { Rule } from './rule.js';

/** A rule was changed, or its values were checked, meanwhile: it has to be decided anew. */
export class Stale extends Error {}

/** The record set is not as the rule left it. */
export class Foreign extends AppError {
  constructor(readonly found: readonly string[]) {
    const { status, code, message, data } = found.length
      ? errors.conflict('set_changed_elsewhere', { found: found.join(', ') })
      : errors.conflict('set_emptied_elsewhere');
    super(status, code, message, data);
  }
}

/** What a switch writes where the set holds `found`. @throws Foreign; AppError 409001 */
export function valuesToWrite(rule: Rule, { values }: Target, found: readonly string[]): readonly string[] {
  if (sameValues(found, values)) return found;
  // a switch of this rule was cut off, at a provider that takes one record after the other
  if (!found.length && rule.intended && values.length) return values;
  if (!isAsLeft(found, { ...rule.config, served: rule.served, intended: rule.intended })) throw new Foreign(found);
  if (!values.length) throw errors.conflict('last_answer');
  return values;
}

/**
 * Whether some of a switch that failed may be, or come to be, in DNS. With a 412001 other than `SetChanged` the
 * provider may have applied other records of the list.
 */
export const mayHaveApplied = (error: unknown): boolean => {
  if (error instanceof ProviderError) return error.mayHaveApplied;
  // somebody may approve it
  if (error instanceof Waits) return true;
  if (error instanceof SetChanged || error instanceof Stale) return false;
  return !(error instanceof AppError) || error.status === 412;
};
