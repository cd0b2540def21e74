import { IsBoolean, IsInt, IsNotEmpty, IsObject, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { ToBoolean } from '../common/paging.dto.js';
import { MAX_ID } from '../common/validation.js';

class AccountFields {
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /** team whose members may create domains in this account */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  team_id?: number | null;
}

export class AccountInput extends AccountFields {
  /** provider kind, see `GET /api/providers` */
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  provider!: string;

  /** label */
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  name!: string;

  /** the provider's credential fields; `endpoint` is another base URL (sandbox, region, proxy) */
  @IsObject()
  credentials!: Record<string, unknown>;
}

export class AccountPatch extends AccountFields {
  /** must stay what it is; accepted so that an account's answer can be sent back */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  provider?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  name?: string;

  /** fields left out keep their value, null clears one */
  @IsOptional()
  @IsObject()
  credentials?: Record<string, unknown>;
}

export class CheckQuery {
  /** `false`: store the credentials without trying them at the provider */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  check?: boolean;
}

export class ForceQuery {
  /** `true`: delete the account together with its domains here (nothing is touched at the provider) */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

export class AccountView {
  id!: number;
  provider!: string;
  name!: string;
  remark!: string;
  owner_id!: number | null;
  team_id!: number | null;
  /** secret values read `***` */
  credentials!: Record<string, string>;
  domains_count!: number;
  last_sync_at!: string | null;
  last_error!: string | null;
  created_at!: string;
}

export class SyncResult {
  /** domains that are new here */
  added!: number;
  /** domains that were known */
  updated!: number;
  /** domains that the provider no longer lists: kept, and flagged `missing` */
  missing!: number;
  /** domains whose records could not be read; their cache is unchanged */
  failed!: number;
  /** domains whose records are still being read (the answer is 202 then) */
  pending!: number;
}

class CredentialFieldView {
  key!: string;
  label!: string;
  secret!: boolean;
  required!: boolean;
  /** text, number, url or list */
  kind!: string;
  help?: string;
  default?: string;
  values?: string[];
}

class CapabilitiesView {
  /** record types that can be written */
  types!: string[];
  /** `record`, or `rrset`: the TTL belongs to all values of a name and type */
  granularity!: string;
  /** records can be disabled at the provider itself */
  toggle!: boolean;
  proxy!: boolean;
  lines!: string[];
  weight!: boolean;
  min_ttl!: number;
  max_ttl!: number;
  /** a TTL that means automatic, and that proxied records always have */
  automatic_ttl!: number | null;
  create_zone!: boolean;
}

export class ProviderView {
  kind!: string;
  label!: string;
  docs!: string;
  /** alternatives: the required fields of one list must be filled in */
  credentials!: CredentialFieldView[][];
  capabilities!: CapabilitiesView;
}
