import { withoutDeadline } from '../../../common/deadline.js';
import { type DnsRecord, type RemoteRecord, sameRecord } from '../../../dns/record.js';
import type { RemoteZone } from '../../provider.js';
import { takenBack, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import type { RecordVerbs, Written } from './record-verbs.js';

/**
 * A write of a record at a vendor whose refusals do not tell what is wrong: where the record is gone, that is what is.
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
 * A reading of a zone at such a vendor: where no list of the account's zones has it, the zone is gone.
 * @throws ProviderError `not_found`
 */
export const orNoZone = <T>(
  zone: RemoteZone,
  read: () => Promise<T>,
  zones: () => Promise<readonly RemoteZone[]>,
): Promise<T> => orGone(read, async () => (await zones()).some(({ id }) => id === zone.id));

/**
 * One record in the place of another, for vendors that cannot change a record's type or host: the new one is made
 * before the old one goes. Where one of them is a CNAME of the same host, which suffers no other beside it, the old one
 * goes first, and is made again when the new one is refused.
 * @param oldFirst where the vendor takes the two for one record: the old one goes first
 * @returns the new one's id, or the new one
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
      await withoutDeadline(() => withinDeadline(performance.now() + BACK_MS, back)).catch(lost);
      // what is made again has another id: it has to be asked for
      throw failure.applied(true);
    }
  }
  const made = await verbs.createRecord(zone, after);
  try {
    await verbs.deleteRecord(zone, before);
  } catch (error) {
    const failure = asProviderError(error);
    // an old one that may be gone must not take the new one with it
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

/** ms for putting a record back */
const BACK_MS = 30_000;

/** Makes a record again whose successor was not made. One that may come, or is there, would be refused beside it. */
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

/** `readRecord` of a vendor that has no call for one record: it is looked for in the list of all. */
export const inList =
  (list: (zone: RemoteZone) => Promise<readonly RemoteRecord[]>): NonNullable<RecordVerbs['readRecord']> =>
  async (zone, { remoteId }) =>
    (await list(zone)).find((record) => record.remoteId === remoteId) ?? null;
