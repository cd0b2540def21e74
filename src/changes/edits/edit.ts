import { Injectable } from '@nestjs/common';
import type { Connection } from '../../accounts/provider-connections.js';
import type { DnsRecord } from '../../dns/record.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { ZoneFacts } from '../../domains/zone-facts.service.js';
import type { AppError } from '../../platform/common/errors.js';
import type { OrUndefined } from '../../platform/common/validation.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import type { ProviderDefinition } from '../../providers/provider.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { RecordInput, RecordPatch } from './record.dto.js';
import { carriesPriority, defined, newRecord, withoutAliases } from './record-rules.js';

/** Where a caller has written what an edit makes. */
export interface Source {
  /** its place among others of its kind */
  order: number;
  /** the place in words */
  at: string;
  /** what is wrong with the record, as what is wrong there */
  tell(error: FieldError): FieldError;
}

/** An item of a list of the body. */
export const itemOf = (list: 'records' | 'changes', order: number): Source => {
  const at = `${list}.${order}`;
  return { order, at, tell: (error) => ({ ...error, path: error.path ? `${at}.${error.path}` : at }) };
};

/** A creation, canonical. */
export interface NewRecord {
  record: DnsRecord;
  /** a TTL was named; one that was not gives way to that of the set which the record joins */
  ttlGiven: boolean;
  remark: string;
  /** when it is deleted; left out: never */
  expires_at?: string | null | undefined;
  /** the id of a record that was deleted, which comes back */
  revives?: number;
  /** left out: it is the change of its position */
  source?: Source | undefined;
}

/**
 * Makes the record with this host, type and value so, or creates it; `patch`: the fields that were named.
 * `wasCreate`: a creation that is tried once more, which says nothing of the other records of its set.
 */
export type Upsert = { op: 'upsert'; patch: RecordPatch; wasCreate?: boolean } & NewRecord;

/**
 * One wish of a caller, in the language of the domain: what older tools call otherwise has its own name here, and what
 * needs no stored row to be checked is checked. `ifMatch`: the tag of the state that the caller has seen. `was`: fields
 * of a plan's record as the plan has shown them, which nobody may have changed since.
 */
export type Edit =
  | ({ op: 'create' } & NewRecord)
  | Upsert
  | {
      op: 'update';
      id: number;
      patch: RecordPatch;
      ifMatch?: string | undefined;
      was?: RecordPatch;
      source?: Source | undefined;
    }
  | { op: 'delete'; id: number; ifMatch?: string | undefined; was?: RecordPatch }
  | { op: 'status'; id: number; enabled: boolean; ifMatch?: string | undefined }
  /** one of a list that could not even be read */
  | { op: EditOp; misfit: AppError };

/** An edit of a record that is there already. */
export type EditOfRow = Extract<Edit, { id: number }>;

export const EDIT_OPS = ['create', 'update', 'delete', 'status', 'upsert'] as const;
export type EditOp = (typeof EDIT_OPS)[number];

/** What conversions need to know of a domain. */
export interface Place {
  definition: ProviderDefinition;
  /** name of the zone */
  zone: string;
  /** seconds, of the settings, for creations that name none */
  defaultTtl: number;
}

/** What the input of a domain's records is read by. */
@Injectable()
export class Places {
  constructor(
    private readonly facts: ZoneFacts,
    private readonly settings: SettingsService,
  ) {}

  /**
   * With the connection to its provider, by which the edits that are read can be carried out.
   * @param ttl where all that is made names it: no default is read
   */
  async of(domain: OpenDomain, ttl?: number | null): Promise<Place & { connection: Connection }> {
    const [defaultTtl, connection] = await Promise.all([
      ttl ?? this.settings.read('general').then(({ default_ttl }) => default_ttl),
      this.facts.connection(domain),
    ]);
    return { definition: connection.definition, zone: domain.name, defaultTtl, connection };
  }
}

/** @throws InvalidRecord naming all fields that are wrong */
export function creation({ definition, zone, defaultTtl }: Place, input: OrUndefined<RecordInput>): NewRecord {
  const record = newRecord(definition, zone, input, defaultTtl);
  return { record, ttlGiven: (input.ttl ?? null) !== null, remark: input.remark ?? '', expires_at: input.expires_at };
}

/** @throws InvalidRecord naming all fields that are wrong */
export function upsert(place: Place, input: OrUndefined<RecordInput>): Upsert {
  const { ttl, priority, mx, weight, proxied, line, remark, enabled, expires_at } = input;
  const made = creation(place, input);
  const given = priority ?? mx ?? (carriesPriority(made.record.type, input.value) ? made.record.priority : undefined);
  const named = { ttl, priority: given ?? undefined, weight, proxied, line, remark, enabled: enabled ?? true };
  return { op: 'upsert', ...made, patch: { ...defined(named), ...(expires_at !== undefined && { expires_at }) } };
}

/** @throws InvalidRecord where two words for one thing say different things */
export const update = ({ zone }: Pick<Place, 'zone'>, id: number, patch: RecordPatch, ifMatch?: string): Edit => ({
  op: 'update',
  id,
  patch: withoutAliases(patch, zone),
  ifMatch,
});
