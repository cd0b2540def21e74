import type { DnsRecord, RecordType, RemoteRecord } from '../dns/record.js';
import type { FieldText } from '../platform/common/words/field-text.js';
import type { ProviderError } from './kit/http/errors.js';
import type { Http } from './kit/http/http-client.js';
import type { Window } from './kit/http/rate-limiter.js';
import type { SetKey } from './kit/rrsets/record-set.js';
import type { SharedSessions } from './shared-sessions.js';
import type { TunnelApi } from './tunnels.js';

export type { DnsRecord, RemoteRecord } from '../dns/record.js';
export { ProviderError } from './kit/http/errors.js';

/**
 * The contract between the service and a DNS provider. A provider is a declaration (data: it validates accounts, marks
 * secrets, and tells the console what to draw) and a few verbs. Everything that crosses it is canonical
 * (`dns/record.ts`); a vendor's habits (dots, quotes, TTL 1 = automatic) are undone inside the vendor's folder.
 */

/** A zone as the provider knows it. */
export interface RemoteZone {
  /** the provider's id of it, text, at most 255 characters; the name where there is none */
  id: string;
  /** lower case, A-labels, no final dot */
  name: string;
  /** public DNS does not show it: it is for the networks of its owner, and may have the name of a public one */
  private?: boolean;
  /** false: the vendor says that it is not in use, as where its name was moved to another account */
  active?: boolean;
}

/**
 * One step that the provider shall take. A list of them is all that the service ever asks for. An update says what was
 * known and what shall be: fields that are the same in both were not named by whoever asks, and keep what the provider
 * holds where the vendor can write a difference. `guarded`: whoever asks has seen `before`; where the provider holds
 * something else, or nothing any more, nothing is written and the outcome is a failure of the kind `changed`.
 */
export type Change =
  | { op: 'create'; after: DnsRecord }
  | { op: 'update'; before: RemoteRecord; after: DnsRecord; guarded?: boolean }
  | { op: 'delete'; before: RemoteRecord; guarded?: boolean };

/**
 * What came of one change. `remoteId` is the record's id from now on (many vendors change it on update), null after a
 * delete; `held` what the provider now has, where that is not quite `after`. A failure with `tried: false` is certain
 * never to have been sent.
 */
export type Outcome =
  | { ok: true; remoteId: string | null; held?: DnsRecord }
  | { ok: false; error: ProviderError; tried: boolean };

/** Bounds of one list of changes. */
export interface ApplyOptions {
  /** ms of `monotonicMs()` after which nothing more is begun: what is left is `tried: false` */
  deadline?: number | undefined;
  /**
   * ms of `monotonicMs()` until which the locks of the changes are certainly held, as known at the moment: nothing
   * is sent later
   */
  heldUntil?: () => number;
  /**
   * what fails takes the list with it: where `capabilities.atomic`, none of it is carried out when one is refused;
   * elsewhere nothing more is begun after the first failure
   */
  atomic?: boolean;
  /**
   * these record sets hold the records with these ids and no other, else nothing is written of the one that does not
   * (`changed`). Only vendors of whole sets can look at the moment of the write: others leave it aside
   */
  only?: readonly { host: string; type: string; line: string; remoteIds: readonly string[] }[] | undefined;
}

/** What a provider says of one zone. */
export interface ZoneInfo {
  /** routing lines of the zone's plan; records carry the id */
  lines: { id: string; name: string; parent?: string }[];
  /** seconds; null: that of the capabilities */
  minTtl: number | null;
  /** end of the registration, UTC */
  expiresAt: string | null;
  plan: string | null;
}

interface ListOptions {
  /** the list decides what became of writes without a clear answer, be they of another process */
  settles?: boolean;
}

/** The verb that writes, and what its kit can tell besides. */
export interface Apply {
  (zone: RemoteZone, changes: Change[], options?: ApplyOptions): Promise<Outcome[]>;
  /**
   * All records of some sets as the provider holds them at this moment, maybe with others; null where to list the zone
   * is no more work. What it does not show may still be there: only a list of the zone proves that it is gone. Where it
   * is absent, the zone is listed. @throws ProviderError
   */
  recordsAt?(zone: RemoteZone, keys: readonly SetKey[]): Promise<RemoteRecord[] | null>;
}

export interface DnsProvider {
  /** Proves the credentials with the cheapest authenticated read. @throws ProviderError */
  check(): Promise<void>;
  /** All zones of the account, or an error: a list that was cut short throws. @throws ProviderError */
  listZones(): Promise<RemoteZone[]>;
  /**
   * All records of a zone (types that the server manages itself left out), or an error: never a part.
   * @throws ProviderError
   */
  listRecords(zone: RemoteZone, options?: ListOptions): Promise<RemoteRecord[]>;
  /**
   * The same in pieces, where a long list is not held at once. Whether it is whole is known with the last piece alone:
   * before that, nothing may be concluded from it. Where absent, the list is one piece. @throws ProviderError
   */
  recordPieces?(zone: RemoteZone, options?: ListOptions): AsyncIterable<RemoteRecord[]>;
  /**
   * Carries the changes out, one outcome per change, in their order; deletions may be carried out first. No two of them
   * are of one record. Siblings of a record set are kept, disabled ones too. Creating what exists and deleting what is
   * gone are successes, the latter unless it is guarded. Does not throw for a refused change: it returns the error in
   * its outcome. Vendors with ids per record get it from `fromRecords`, those that replace whole sets from
   * `fromRrsets`. Changes of one host, or of hosts between which a record moves, are refused together by vendors that
   * write several sets at once.
   */
  apply: Apply;
  /** Creates a zone with a usable SOA; only where `capabilities.createZone`. @throws ProviderError */
  createZone?(name: string): Promise<RemoteZone>;
  /** Deletes a zone with all its records: only `npm run provider:check` does, of its own zone. @throws ProviderError */
  deleteZone?(zone: RemoteZone): Promise<void>;
  /**
   * The public zone of this name, of several one that is in use; null when there is none. Where absent, the zones are
   * listed. @throws ProviderError
   */
  findZone?(name: string): Promise<RemoteZone | null>;
  /** Facts of a zone that are no property of the vendor; where absent, the capabilities tell. @throws ProviderError */
  zoneInfo?(zone: RemoteZone): Promise<ZoneInfo | null>;
  /** Only where `capabilities.tunnels`. */
  tunnels?: TunnelApi;
}

/** One credential of an account. */
export interface CredentialField {
  key: string;
  label: string;
  secret: boolean;
  required: boolean;
  /** one line for the person who fills it in */
  help?: string;
  default?: string;
  /** what a value looks like, of nobody; for a form's placeholder */
  example?: string;
  /** a text of several lines, which is pasted: a key in PEM form, a file of JSON */
  multiline?: boolean;
  /** the only values allowed */
  values?: readonly string[];
  /**
   * says where the account's secrets are sent (host, port, region): who changes it sends the secrets again. Of URLs
   * always true
   */
  address?: boolean;
  kind: 'text' | 'number' | 'url' | 'list';
  /** what is wrong with a value, where its text or the installation tells; null: nothing */
  problem?(value: string, installation: Installation): FieldText | null;
}

export const text = (key: string, label: string, more: Partial<CredentialField> = {}): CredentialField => ({
  key,
  label,
  secret: false,
  required: true,
  kind: 'text',
  ...more,
});
export const secret = (key: string, label: string, more: Partial<CredentialField> = {}): CredentialField =>
  text(key, label, { secret: true, ...more });

/** The entries of a credential of the kind `list`; none where it was left empty. */
export const listed = (value = ''): string[] => value.split(/[\s,]+/).filter(Boolean);

/** What a provider can do. Everything not said is "no". */
export interface Capabilities {
  /** types that can be written; others are shown read-only */
  types: readonly RecordType[];
  /** `own`: the vendor gives each record an id; `derived`: the kit derives them from the content */
  ids: 'own' | 'derived';
  /** what a TTL belongs to */
  ttlOf: 'record' | 'set';
  /**
   * what one write replaces: parallel writers must not do it at once. `record` and `set` are guarded by the lock of the
   * name, `zone` (stores that are written as a whole) by that of the zone
   */
  replaces: 'record' | 'set' | 'zone';
  /** what can be disabled at the provider; where no single record can be, the service removes and recreates them */
  toggle: 'record' | 'set' | false;
  /** remarks are kept by the provider, in `DnsRecord.remark`; elsewhere here */
  remark: boolean;
  /**
   * read-only records are the vendor's own, and make way for others of their name: they are in nobody's way; a text:
   * only those of this value
   */
  yields: boolean | string;
  /** a CNAME at the apex beside the rest: the vendor flattens it */
  apexCname: boolean;
  /** a disabled record beside a CNAME, a second CNAME or a second DNAME is refused as an enabled one is */
  judgesDisabled: boolean;
  /** targets of MX, NS and SRV are host names: labels of letters, digits and inner hyphens */
  hostTargets: boolean;
  /** name servers may load no zone with a name that is no host name where one is expected (`check-names` of BIND) */
  checksNames: boolean;
  /** records can be proxied; follows from `proxiedTypes` */
  proxy: boolean;
  /** types of records that can be proxied */
  proxiedTypes: readonly RecordType[];
  /** routing lines */
  lines: readonly string[];
  /** records have weights */
  weight: boolean;
  minTtl: number;
  /** a TTL outside the range that means "automatic", and that proxied records always have; null: there is none */
  automaticTtl: number | null;
  maxTtl: number;
  createZone: boolean;
  /** a list of changes that asks for it is carried out whole or not at all, if it is no longer than `chunk` */
  atomic: boolean;
  /** a write may be carried out when nobody waits for it any more; not where this process itself is the writer */
  outlives: boolean;
  /** changes in one write at most; longer lists are cut, those that are atomic refused */
  chunk: number;
  /** its accounts can hold tunnels */
  tunnels: boolean;
}

/** Values by name, of which only the kind that reads them knows what they mean. */
export type Installation = Readonly<Record<string, string>>;

/** What a provider is given besides its credentials. */
export interface ProviderContext {
  /** the account's HTTP client: time limit, retries, rate and concurrency limit, outbound rules */
  http: Http;
  /**
   * resolves a host that an administrator named, under the outbound rules; connect only to what it returns.
   * @throws ProviderError
   */
  resolve(host: string): Promise<string>;
  /** ms that one exchange with a server may take */
  timeoutMs: number;
  /** values that never may appear in a message: the account's secrets */
  redact(text: string): string;
  /** what the configuration of the installation, never the API, says to this kind; what is not said is absent */
  installation: Installation;
  /** sessions that are opened once for all connections and processes */
  sessions: SharedSessions;
}

/** Values of the credential fields after validation; keys that were left out and have no default are absent. */
export type Credentials = Readonly<Record<string, string>>;

export interface ProviderDefinition {
  /** lower-case identifier, the `provider` of an account */
  kind: string;
  /** other names that are taken for it, and stored as the kind */
  aliases: readonly string[];
  label: string;
  /** where the provider documents its API and keys */
  docs: string;
  /** base URL of the API; the `endpoint` of an account takes its place. Absent where accounts name a server */
  api?: string;
  /** alternatives: one list must be filled in completely. `endpoint` is added to each by `defineProvider`. */
  credentials: CredentialField[][];
  capabilities: Capabilities;
  limits: {
    /** at most `requests` in `perSeconds`, per account */
    requests: number;
    perSeconds: number;
    /** further windows that hold at the same time, such as so many an hour */
    more: readonly Window[];
    /** at most so many at once, per account */
    concurrency: number;
  };
  /**
   * address of the server that an account's zones are at, where that is more than its `endpoint` or `url` (see
   * `serverKey`)
   */
  server?(credentials: Credentials, installation: Installation): string;
  /** the adapter itself, which is read when the first account of the kind is used */
  load(): Promise<{ connect: Connect }>;
}

/** What the adapter of a kind exports. @throws ProviderError for well-formed credentials that mean nothing */
export type Connect = (credentials: Credentials, context: ProviderContext) => DnsProvider;

const ENDPOINT = text('endpoint', 'Endpoint', {
  required: false,
  kind: 'url',
  help: 'Another base URL, for a sandbox, a region or a proxy. Usually left empty.',
});

/** Capabilities of a vendor of record sets. */
export const SETS = { ids: 'derived', ttlOf: 'set', replaces: 'set' } as const;

/** A further window of `limits`. */
export const window = (requests: number, perSeconds: number): Window => ({ requests, perSeconds });

type Declaration = Omit<ProviderDefinition, 'capabilities' | 'limits' | 'aliases'> & {
  aliases?: readonly string[];
  capabilities: Partial<Capabilities> & Pick<Capabilities, 'types'>;
  limits?: Partial<ProviderDefinition['limits']>;
};

/** A provider's declaration with everything that was not said filled in; capabilities default to "no". */
export function defineProvider(declaration: Declaration): ProviderDefinition {
  const { proxiedTypes = [] } = declaration.capabilities;
  return {
    aliases: [],
    ...declaration,
    credentials: declaration.credentials.map((fields) =>
      (fields.some((f) => f.key === 'endpoint') ? fields : [...fields, ENDPOINT]).map((field) =>
        field.kind === 'url' || field.key === 'endpoint' ? { ...field, address: true } : field,
      ),
    ),
    capabilities: {
      ids: 'own',
      ttlOf: 'record',
      replaces: 'record',
      toggle: false,
      remark: false,
      yields: false,
      apexCname: false,
      judgesDisabled: false,
      hostTargets: false,
      checksNames: false,
      proxy: proxiedTypes.length > 0,
      proxiedTypes,
      lines: ['default'],
      weight: false,
      minTtl: 1,
      automaticTtl: null,
      maxTtl: 2147483647,
      createZone: false,
      atomic: false,
      outlives: true,
      chunk: 100,
      tunnels: false,
      ...declaration.capabilities,
    },
    limits: { requests: 100, perSeconds: 1, more: [], concurrency: 8, ...declaration.limits },
  };
}
