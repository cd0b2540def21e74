import { type DnsRecord, type RemoteRecord, sameRecord } from '../../../dns/record.js';
import { monotonicMs } from '../../../platform/common/clock.js';
import { withoutDeadline } from '../../../platform/common/deadline.js';
import type { RemoteZone } from '../../provider.js';
import { takenBack, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import type { RecordVerbs, Written } from './record-verbs.js';

/**
 * A write at a vendor whose refusals do not say what is wrong: looks whether the record is gone.
 * @throws ProviderError `not_found` when `look` does not find it
 */
export async function orGone<T>(write: () => Promise<T>, look: () => Promise<unknown>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
    const found = await look().catch(() => error);
    throw found ? error : new ProviderError('not_found', error.message, error.mayHaveApplied);
  }
}

/**
 * A read of a zone at such a vendor: looks whether the zone is still in the account.
 * @throws ProviderError `not_found`
 */
export const orNoZone = <T>(
  zone: RemoteZone,
  read: () => Promise<T>,
  zones: () => Promise<readonly RemoteZone[]>,
): Promise<T> => orGone(read, async () => (await zones()).some(({ id }) => id === zone.id));

/**
 * Replaces a record by another, for vendors that cannot change a record's type or host: the new one is created before
 * the old one is deleted. Where one of them is a CNAME at the same host, which allows no record beside it, the old one
 * is deleted first, and restored when the new one is refused.
 * @param oldFirst delete the old one first: also where the vendor takes the two for one record
 * @returns the new record, or its id
 */
export async function inPlace(
  verbs: Pick<RecordVerbs, 'createRecord' | 'deleteRecord' | 'findRecords'>,
  zone: RemoteZone,
  before: RemoteRecord,
  after: DnsRecord,
  oldFirst = before.host === after.host && [before.type, after.type].includes('CNAME'),
): Promise<Written> {
  if (oldFirst) {
    await verbs.deleteRecord(zone, before);
    try {
      return await verbs.createRecord(zone, after);
    } catch (error) {
      const failure = asProviderError(error);
      const lost = (why: unknown) => {
        const words = `${failure.message}; the record as it was is gone and was not put back: ${asProviderError(why).message}`;
        throw new ProviderError(failure.kind, words, true).lateBy(failure.late);
      };
      // however little time is left
      const back = () => putBack(verbs, zone, before, after, failure);
      await withoutDeadline(() => withinDeadline(monotonicMs() + BACK_MS, back)).catch(lost);
      // the restored record has another id, which has to be looked up
      throw failure.applied(true);
    }
  }
  const made = await verbs.createRecord(zone, after);
  try {
    await verbs.deleteRecord(zone, before);
  } catch (error) {
    const failure = asProviderError(error);
    // the old one may be gone: the new one stays
    if (failure.mayHaveApplied) throw failure;
    const twin = typeof made === 'string' ? { ...after, remoteId: made, readOnly: false } : made;
    const undone = await verbs.deleteRecord(zone, twin).then(
      () => true,
      () => false,
    );
    if (undone) takenBack();
    throw failure.applied(!undone);
  }
  return made;
}

/** ms for restoring a record */
const BACK_MS = 30_000;

/** Restores a record whose successor was refused, unless the successor exists or may still be created. */
async function putBack(
  verbs: Pick<RecordVerbs, 'createRecord' | 'findRecords'>,
  zone: RemoteZone,
  before: RemoteRecord,
  after: DnsRecord,
  failure: ProviderError,
): Promise<void> {
  if (failure.late) throw new ProviderError('unavailable', 'its successor may still be made');
  if (failure.mayHaveApplied) {
    if (!verbs.findRecords) throw new ProviderError('unavailable', 'its successor may be there');
    const there = await verbs.findRecords(zone, after);
    if (there.some((record) => sameRecord(record, after))) return;
  }
  await verbs.createRecord(zone, before);
}

/** `readRecord` of a vendor that has no call for one record: finds it among those of its name and type. */
export const inFound =
  (find: NonNullable<RecordVerbs['findRecords']>) =>
  async (zone: RemoteZone, before: RemoteRecord): Promise<RemoteRecord | null> =>
    (await find(zone, before)).find(({ remoteId }) => remoteId === before.remoteId) ?? null;

/** The same, which finds it in the whole list. */
export const inList = (list: (zone: RemoteZone) => Promise<RemoteRecord[]>) => inFound((zone) => list(zone));
