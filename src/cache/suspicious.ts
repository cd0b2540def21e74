import type { DomainRow } from '../domains/domain-policy.js';
import { shownName } from '../domains/zone-identity.js';
import { AppError, CODES, errors } from '../platform/common/errors.js';
import type { CacheRow } from './reconcile.js';

/** records that are named; their number is always given */
const NAMED = 100;

/** A list of records that lacks so many known ones that it may be wrong: 409002, and nothing was changed. */
export class SuspiciousList extends AppError {
  constructor(
    domain: Pick<DomainRow, 'id' | 'name' | 'apart'>,
    private readonly lost: readonly CacheRow[],
    private readonly of: number,
  ) {
    const few = `without ${lost.length} of ${of} known records; nothing was changed.`;
    const words = `The provider lists ${shownName(domain)} ${few}`;
    const accept = `If they are meant to go: GET /api/domains/${domain.id}/records?refresh=true&confirm=true`;
    super(CODES.suspicious.status, CODES.suspicious.code, `${words} ${accept}`, { count: lost.length, of });
  }

  /** The same error with the records that would be removed, as far as the caller may read them. */
  told(mayRead: (row: CacheRow) => boolean): AppError {
    const records = this.lost.filter(mayRead).slice(0, NAMED);
    const named = records.map(({ id, host, type }) => ({ id, host, type }));
    return errors.suspicious(this.message, { count: this.lost.length, of: this.of, records: named });
  }
}
