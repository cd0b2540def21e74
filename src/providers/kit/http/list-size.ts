import { AsyncLocalStorage } from 'node:async_hooks';
import { ProviderError } from './errors.js';

/** Entries of one list, in one answer or in many: no zone has as many, and more would take everybody's memory. */
export const MOST_ENTRIES = 1_000_000;
/** MiB of all its answers */
const MOST_MIB = 256;

/** How much of a list that comes in many answers was read so far. */
export class ListSize {
  private octets = 0;

  /** @throws ProviderError `unavailable` when the list has become too long */
  add(octets: number): void {
    this.octets += octets;
    if (this.octets > MOST_MIB * 1_048_576) throw tooLong(`${MOST_MIB} MiB`);
  }
}

const tooLong = (what: string) =>
  new ProviderError('unavailable', `The provider's list does not end: it has more than ${what}`, false);

const current = new AsyncLocalStorage<ListSize>();

/** Of the list that is read now; undefined outside of any. */
export const currentList = (): ListSize | undefined => current.getStore();

/** Reads one list: the answers of all calls that are made for it are counted together. */
export const asOneList = <T>(read: () => Promise<T>): Promise<T> => current.run(new ListSize(), read);

/**
 * @param entries how many a list has so far
 * @throws ProviderError `unavailable` for more than one may have
 */
export function assertFew(entries: number): void {
  if (entries > MOST_ENTRIES) throw tooLong(`${MOST_ENTRIES} entries`);
}
