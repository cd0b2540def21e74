import { AppError, CODES, errors } from '../common/errors.js';
import type { DomainRow } from '../domains/domain-policy.js';
import type { CacheRow } from './reconcile.js';

/** so many are named; their number is always told */
const NAMED = 100;

/** A list of records that lacks so many known ones that it may be wrong: 409002, and nothing was changed. */
export class SuspiciousList extends AppError {
  constructor(
    domain: Pick<DomainRow, 'id' | 'name'>,
    private readonly lost: readonly CacheRow[],
    private readonly of: number,
  ) {
    const words = `The provider lists ${domain.name} without ${lost.length} of ${of} known records; nothing was changed.`;
    const accept = `If they are meant to go: GET /api/domains/${domain.id}/records?refresh=true&confirm=true`;
    super(CODES.suspicious.status, CODES.suspicious.code, `${words} ${accept}`, { count: lost.length, of });
  }

  /** The same with the records that would go, as far as who asks may read them. */
  told(mayRead: (row: CacheRow) => boolean): AppError {
    const records = this.lost.filter(mayRead).slice(0, NAMED);
    const named = records.map(({ id, host, type }) => ({ id, host, type }));
    return errors.suspicious(this.message, { count: this.lost.length, of: this.of, records: named });
  }
}
