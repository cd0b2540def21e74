import type { RecordType } from '../../../src/dns/record.js';
import type { DnsProvider, DnsRecord, ProviderDefinition, RemoteZone } from '../../../src/providers/provider.js';
import type { Answer, StandIn } from '../../support/vendor.js';
import type { Given } from './values.js';

/** A live provider with one zone that holds nothing but its SOA and NS. */
export interface ContractTarget {
  provider: DnsProvider;
  definition: ProviderDefinition;
  zone: RemoteZone;
  /** what the zone's own name server answers for an absolute name: lines of rdata in presentation form */
  dig?: (name: string, type: string) => Promise<string[]>;
  /** of a kind that speaks HTTP: what stands in for its API, so that the suite can make it fail */
  standIn?: StandIn;
  /** the same API with credentials that it refuses */
  stranger?: DnsProvider;
  /** the same account under another declaration, of which only the limits differ */
  connect?: (definition: ProviderDefinition) => DnsProvider;
  /** entries on a page of the records' list, so that the lists around it are read; it should be small */
  pageSize?: number;
  /** makes the pages of the stand-in as long as the vendor's, or as short as for the other checks */
  setPages?: (length: 'short' | 'long') => void;
  /** two TTLs that the vendor takes, where it does not take 600 and 1200 (or its least, and twice that) */
  ttls?: readonly [number, number];
  /** in the place of the usual values, where the vendor cannot hold those */
  values?: Partial<Record<RecordType, readonly [Given, Given]>>;
  /** what the vendor cannot hold, where that is a rule; as with `cannot`, the suite proves that it is refused */
  refuses?(record: DnsRecord): boolean;
  /** a zone that is not there, where the id of one cannot be made from that of `zone` */
  missing?: RemoteZone;
  /** what the vendor answers beyond its limit, where that is not 429; tried besides 429 */
  limited?: Answer;
  /**
   * What the vendor cannot hold, or cannot do, with the reason, by the name that the suite gives it: `TXT empty`,
   * `NS at @`, `MX with the root`, or the name of a whole check. Where it is a value, the suite proves that it is
   * refused and nothing is changed; a whole check is left out, and the reason is told.
   */
  cannot?: Readonly<Record<string, string>>;
  /** a real account, of which nobody knows what it cannot hold: what it refuses is told in its words */
  live?: true;
  stop(): Promise<void>;
}
