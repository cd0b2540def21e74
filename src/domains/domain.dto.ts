import { applyDecorators } from '@nestjs/common';
import {
  ArrayMaxSize,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { PageQuery, ToBoolean, ToNumber } from '../platform/common/paging.dto.js';
import { TakesBack } from '../platform/common/read-only.js';
import { alsoJudge, IsOmittable, IsTime, MAX_ID, Nested, NestedList } from '../platform/common/validation.js';
import { assertConditions, Conditional, type Conditions, entityTag } from '../platform/http/conditions.js';
import { CapabilitiesView } from '../providers/provider.dto.js';
import {
  ApprovalInput,
  ApprovalView,
  DriftInput,
  DriftRulesView,
  FreezeInput,
  FreezeView,
  WindowInput,
  WindowView,
  wrongRules,
} from './change-rules/change-rules.dto.js';
import { GUARD_MODES, type GuardKey, type GuardMode } from './change-rules/change-rules.js';

export class DomainQuery extends PageQuery {
  /** exact name; IDN and a final dot are accepted; it finds no private zone */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  name?: string;

  /** of this provider account */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id?: number;

  /** that belong to this user */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  owner_id?: number;

  /** on which this team has a permission, be it for some hosts; of those that the caller may read anyway */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  team_id?: number;

  /** provider kind */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  provider?: string;

  /** missing: no longer listed by the provider */
  @IsOptional()
  @IsIn(['active', 'missing'])
  status?: string;
}

export class DomainCreateQuery {
  /**
   * `true`: add it although it has the name of somebody else's domain, lies below or above it, is the very zone that
   * another account has here, or is a public suffix (administrators only)
   */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

export class DomainDeleteQuery {
  /** `true`: lists of changes that are not done are cancelled, and what was sent is settled, first */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

export class DomainInput {
  /** zone name; IDN is stored as A-labels; of zones of one name the public one */
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  name!: string;

  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id!: number;

  /** free text */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /** create the zone at the provider when it is not there (where supported) */
  @IsOptional()
  @IsBoolean()
  create?: boolean;
}

export class DomainView {
  id!: number;
  /** lower case, A-labels; of a private zone with its id: `example.com (Z0PRIVATE)` */
  name!: string;
  /** the name as people write it */
  unicode_name!: string;
  account_id!: number;
  account_name!: string;
  provider!: string;
  owner_id!: number | null;
  /** the provider's id of the zone */
  remote_id!: string;
  /** it is a private zone of the provider: public DNS knows nothing of it, and no name finds it */
  private!: boolean;
  /** missing: no longer listed by the provider */
  status!: 'active' | 'missing';
  /** all of them, also for a token whose rules hide some */
  records_count!: number;
  /** what the caller may do; write may be limited to `write_hosts` */
  permission!: 'read' | 'write';
  /** globs of the hosts under which the caller may write, where that is not the whole domain; else null */
  write_hosts!: string[] | null;
  expires_at!: string | null;
  created_at!: string;
  synced_at!: string | null;
  remark!: string;
}

const Mode = () => applyDecorators(IsOmittable(), IsIn(GUARD_MODES));

/** What becomes of a change that meets a guard: nothing, a warning, or a refusal unless `force` names it. */
export class DomainGuards implements Partial<Record<GuardKey, GuardMode>> {
  /** always `force`, for plans and other writes, also where it is not set: no domain can have it weaker */
  @IsOmittable() @IsIn(['force']) empty_document?: GuardMode;
  @Mode() many_updates?: GuardMode;
  @Mode() many_deletes?: GuardMode;
  @Mode() apex_ns?: GuardMode;
  @Mode() last_mx?: GuardMode;
  @Mode() last_spf?: GuardMode;
  @Mode() own_host?: GuardMode;
  @Mode() failover?: GuardMode;
  @Mode() tunnel?: GuardMode;
  @Mode() ttl_floor?: GuardMode;
  @Mode() dangling?: GuardMode;
  @Mode() not_a_host_name?: GuardMode;
  @Mode() short_target?: GuardMode;
}

export class DomainDetail extends DomainView {
  /** where `expires_at` is from; `manual`: set here, it stands until it is set to null; null: not known */
  expires_source!: 'manual' | 'rdap' | 'whois' | 'provider' | null;
  /** when the registry was asked last */
  expires_checked_at!: string | null;
  /** why the last question brought no date; a date that was known stays */
  expiry_error!: string | null;
  /** whether the certificates of its hosts are looked at: `GET /api/domains/:id/certificates` */
  watch_certificates!: boolean;
  /** port at which they are */
  certificate_port!: number;
  /** what becomes of a change that meets a guard, where that was set here: see `PUT` */
  guards!: DomainGuards;
  /** TTLs below so many seconds meet the guard `ttl_floor`; null: below 60 */
  ttl_floor!: number | null;
  /** whether updates and deletions of records need `If-Match` */
  require_if_match!: boolean;
  /** which writes wait for an approval, and who may give it */
  approval!: ApprovalView;
  /** when no change is made; null: none is planned */
  freeze!: FreezeView | null;
  /** changes are made while one of them is open; none: at any time */
  windows!: WindowView[];
  /** what becomes of records that somebody changed at the provider */
  drift!: DriftRulesView;
  /** whether the caller may delete it here, which is for its owner and administrators */
  can_delete!: boolean;
  /** what its provider can do */
  capabilities!: CapabilitiesView;
}

@TakesBack(DomainDetail)
export class DomainPatch {
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /**
   * end of the registration, ISO 8601: another one than is known stands from now on, whatever the registry says; null:
   * what the registry says counts again
   */
  @IsOptional()
  @IsTime()
  expires_at?: string | null;

  /** look at the certificates of its hosts once a day, and remind of their ends */
  @IsOmittable()
  @IsBoolean()
  watch_certificates?: boolean;

  /** port at which its hosts show them */
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(65535)
  certificate_port?: number;

  /**
   * guards of its records, in place of those that were set; left out, a guard is `force` for plans, and for other
   * writes `off`, but for `apex_ns`, where taking a name server of the zone away is `warn`. Without a mode,
   * `short_target` is `warn` for all writes; `not_a_host_name` is `force` for all writes at accounts of zone files and
   * of dynamic updates, and `warn` elsewhere. `empty_document` is always `force`
   */
  @IsOmittable()
  @Nested(() => DomainGuards)
  guards?: DomainGuards;

  /** TTLs below so many seconds meet the guard `ttl_floor`, with 0 none; null: below 60 */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(86_400)
  ttl_floor?: number | null;

  /** updates and deletions of its records need `If-Match`: 428001 without */
  @IsOmittable()
  @IsBoolean()
  require_if_match?: boolean;

  /**
   * which writes wait for an approval, and who may give it; as `freeze` and `windows` it is for the owner and for
   * administrators, and not for tokens
   */
  @IsOmittable()
  @Nested(() => ApprovalInput)
  approval?: ApprovalInput;

  /** no change is made then, by whatever way: 423002; null: none is planned */
  @IsOptional()
  @Nested(() => FreezeInput)
  freeze?: FreezeInput | null;

  /** changes are made while one of them is open, else 423002; none: at any time */
  @IsOmittable()
  @NestedList(() => WindowInput)
  @ArrayMaxSize(50)
  windows?: WindowInput[];

  /**
   * what becomes of records that somebody changed at the provider, for the owner and for administrators; reverting goes
   * with the rights of who set it
   */
  @IsOmittable()
  @Nested(() => DriftInput)
  drift?: DriftInput;
}
alsoJudge(DomainPatch, wrongRules);

export class LineView {
  /** what a record has as `line` */
  id!: string;
  name!: string;
  /** id of the line that this one is a part of */
  parent?: string;
}

/** What people change of a domain, without what synchronisations and registries do. */
function stateOf(domain: DomainDetail) {
  const { id, account_id, remote_id, owner_id, status, remark, watch_certificates, certificate_port } = domain;
  const expires_at = domain.expires_source === 'manual' ? domain.expires_at : null;
  const { guards, ttl_floor, require_if_match, approval, freeze, windows, drift } = domain;
  const rules = { guards, ttl_floor, require_if_match, approval, freeze, windows, drift };
  return {
    id,
    account_id,
    remote_id,
    owner_id,
    status,
    remark,
    expires_at,
    watch_certificates,
    certificate_port,
    rules,
  };
}

/** The header `If-Match` of a route that changes a domain. */
export const IfMatchDomain = () =>
  Conditional({
    'If-Match': 'the `ETag` of the domain as it was read: 412001 with the `domain` when somebody has changed it since',
  });

/** The entity tag of a domain. */
export const domainTag = (domain: DomainDetail): string => entityTag(stateOf(domain), domain);

/** @throws AppError 412001 where the domain is not what the caller has seen */
export const assertSeen = (conditions: Conditions, domain: DomainDetail): void =>
  assertConditions(conditions, domainTag(domain), { domain });
