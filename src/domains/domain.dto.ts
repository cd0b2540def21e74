import { IsBoolean, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { PageQuery } from '../common/paging.dto.js';
import { IsTime, MAX_ID } from '../common/validation.js';

export class DomainQuery extends PageQuery {}

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
  /** active, or missing: no longer listed by the provider */
  status!: string;
  records_count!: number;
  /** what the caller may do: read or write */
  permission!: string;
  expires_at!: string | null;
  created_at!: string;
  synced_at!: string | null;
  remark!: string;
}
