import type { DomainRow } from '../domains/domain-policy.js';
import { shownName } from '../domains/zone-identity.js';
import { AppError, errors } from '../platform/common/errors.js';
import type { CacheRow } from './reconcile.js';

type Zone = Pick<DomainRow, 'id' | 'name' | 'apart'>;

/** records that are named; their number is always given */
const NAMED = 100;

const toldOf = ({ id, name, apart }: Zone, count: number, of: number) =>
  ['records_suspicious', { id, name: shownName({ name, apart }), count, of }] as const;

/** A list of records that lacks so many known ones that it may be wrong: 409002, and nothing was changed. */
export class SuspiciousList extends AppError {
  constructor(
    private readonly domain: Zone,
    private readonly lost: readonly CacheRow[],
    private readonly of: number,
  ) {
    const { status, code, message, data } = errors.suspicious(...toldOf(domain, lost.length, of), {
      count: lost.length,
      of,
    });
    super(status, code, message, data);
  }

  /** The same error with the records that would be removed, as far as the caller may read them. */
  told(mayRead: (row: CacheRow) => boolean): AppError {
    const records = this.lost.filter(mayRead).slice(0, NAMED);
    const named = records.map(({ id, host, type }) => ({ id, host, type }));
    const counts = { count: this.lost.length, of: this.of };
    return errors.suspicious(...toldOf(this.domain, this.lost.length, this.of), { ...counts, records: named });
  }
}
