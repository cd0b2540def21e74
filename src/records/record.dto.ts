import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { PageQuery, ToBoolean, ToNumber } from '../common/paging.dto.js';
import { EXTRA_TYPES, MAX_TTL, RECORD_TYPES } from '../dns/record.js';

const TYPES = [...RECORD_TYPES, ...EXTRA_TYPES];
const Upper = () => Transform(({ value }) => (typeof value === 'string' ? value.toUpperCase() : value));

class RecordFields {
  /** seconds; default: `default_ttl` of the settings (600), or the TTL of the set that the record joins where the TTL belongs to the set */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_TTL)
  ttl?: number;

  /** routing line of providers that have such; at a proxy-capable provider `1` means proxied and `0` DNS only, unless `proxied` is given */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;

  /** proxy mode of a proxy-capable provider; wins over `line` */
  @IsOptional()
  @IsBoolean()
  proxied?: boolean;

  /** MX (default 10) and SRV (default 0); ignored for other types */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  priority?: number;

  /** for providers with weighted records */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  weight?: number;

  /** free text, kept here */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /** another word for `host`, for older tools */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  name?: string;

  /** another word for `priority`, for older tools */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  mx?: number;
}

export class RecordInput extends RecordFields {
  /** `@` for the root, `www`, `*.a`, `_dmarc`; IDN accepted; a full name inside the zone with a final dot, too */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  @IsString()
  @Upper()
  @IsIn(TYPES)
  type!: string;

  /** MX: the host; SRV: `weight port target`; CAA: `flags tag "value"`; TXT: the text itself, any length */
  @IsString()
  @MaxLength(66000)
  value!: string;
}

export class RecordPatch extends RecordFields {
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  @IsOptional()
  @IsString()
  @Upper()
  @IsIn(TYPES)
  type?: string;

  @IsOptional()
  @IsString()
  @MaxLength(66000)
  value?: string;
}

export class StatusInput {
  @IsBoolean()
  enabled!: boolean;
}

export class RecordQuery extends PageQuery {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(16)
  type?: string;

  /** exact host, `@` for the root */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  /** exact value */
  @IsOptional()
  @IsString()
  @MaxLength(66000)
  value?: string;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;

  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  enabled?: boolean;

  /** `true`: read the zone at the provider first */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  refresh?: boolean;

  /** another word for `host`, for older tools */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  subdomain?: string;

  /** another word for `limit`, for older tools */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(500)
  pageSize?: number;
}

export class RecordView {
  id!: number;
  /** relative to the zone, A-labels, `@` for the root */
  host!: string;
  type!: string;
  value!: string;
  /** seconds */
  ttl!: number;
  line!: string;
  proxied!: boolean;
  priority!: number | null;
  weight!: number | null;
  enabled!: boolean;
  remark!: string;
  /** shown, but not to be edited: a type or content that the service does not know */
  read_only!: boolean;
  /** the host as people write it */
  unicode_host!: string;
  synced_at!: string;
  updated_at!: string;
}

export class RecordId {
  id!: number;
}

export class RecordList {
  total!: number;
  list!: RecordView[];
}
