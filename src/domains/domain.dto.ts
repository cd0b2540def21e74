import { IsBoolean, IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { PageQuery, ToBoolean, ToNumber } from '../common/paging.dto.js';
import { TakesBack } from '../common/read-only.js';
import { IsTime, MAX_ID } from '../common/validation.js';
import { CapabilitiesView } from '../providers/provider.dto.js';

export class DomainQuery extends PageQuery {
  /** exact name; IDN and a final dot are accepted */
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
   * `true`: add it although it lies below or above somebody else's domain, or has its name in another account
   * (administrators only)
   */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

export class DomainInput {
  /** zone name; IDN is stored as A-labels */
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
  /** lower case, A-labels */
  name!: string;
  /** the name as people write it */
  unicode_name!: string;
  account_id!: number;
  account_name!: string;
  provider!: string;
  owner_id!: number | null;
  /** the provider's id of the zone */
  remote_id!: string;
  /** missing: no longer listed by the provider */
  status!: 'active' | 'missing';
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

export class DomainDetail extends DomainView {
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

  /** expiry of the registration, ISO 8601 */
  @IsOptional()
  @IsTime()
  expires_at?: string | null;
}

export class LineView {
  /** what a record has as `line` */
  id!: string;
  name!: string;
  /** id of the line that this one is a part of */
  parent?: string;
}
