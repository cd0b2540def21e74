import type { Door } from '../../changes/history/change-set.entity.js';
import type { ChangedState } from '../../changes/history/states.js';
import { shownValue } from '../../dns/record.js';
import type { ChangedRecordView } from './change.dto.js';

/** What rules write themselves names values, of which a token with rules may read just some. */
const OWN_WORDS: readonly Door[] = ['failover', 'tunnel'];
export const ownWords = (door: Door): boolean => OWN_WORDS.includes(door);

/** A state of a record as clients see it. */
export function shownState(state: ChangedState): ChangedRecordView {
  const { host, type, ttl, line, proxied, priority, weight, enabled, read_only, remark } = state;
  const fields = { ttl, line, proxied, priority, weight, enabled, remark, expires_at: state.expires_at ?? null };
  return { host, type, value: shownValue(state, read_only), ...fields };
}
