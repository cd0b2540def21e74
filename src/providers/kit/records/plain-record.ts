import { fullName } from '../../../dns/names.js';
import { fromRdata, type RemoteRecord } from '../../../dns/record.js';
import { txtPresentation } from '../../../dns/text.js';
import { idText } from '../http/errors.js';

/** A record as most vendors with ids have it. */
interface PlainRecord {
  id: string | number;
  /** relative to the zone; the apex is `@`, empty, or left out */
  host?: string | null | undefined;
  /** absolute, instead of `host` */
  name?: string;
  type: string;
  /** a text is not quoted; targets with final dot or without, the root may have lost its own */
  value: string;
  /** seconds */
  ttl: number | string;
  /** that of MX and SRV, where it stands beside the value and not in it; of other types it is passed over */
  priority?: number | string | null;
}

/** Words of a value in which the priority is not. */
const WORDS: Readonly<Record<string, number>> = { MX: 1, SRV: 3 };

/** What a record has besides; `enabled` and the like are those of `fromRdata` unless said otherwise. */
type OwnFields = Partial<
  Pick<RemoteRecord, 'enabled' | 'line' | 'priority' | 'proxied' | 'readOnly' | 'remark' | 'value' | 'weight'>
>;

/**
 * A record of such a vendor; null for what is none of the service's (see `fromRdata`).
 * @param own what it has besides; `readOnly: true` of either side counts
 */
export function plainRecord(
  { id, host, name, type, value, ttl, priority }: PlainRecord,
  zone: string,
  own: OwnFields = {},
): RemoteRecord | null {
  const beside = priority !== undefined && value.trim().split(/\s+/).length <= (WORDS[type] ?? 0);
  const rdata = type === 'TXT' ? txtPresentation(value) : beside ? `${priority ?? 0} ${value || '.'}` : value;
  const read = fromRdata(name ?? fullName(host || '@', zone), type, rdata, Number(ttl), zone);
  return (
    read && {
      ...read,
      ...own,
      remoteId: typeof id === 'number' ? idText(id) : id,
      readOnly: read.readOnly || own.readOnly === true,
    }
  );
}
