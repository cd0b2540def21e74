import { IsBoolean, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { RecordView } from '../changes/edits/record.dto.js';
import { PageQuery, ToBoolean, ToNumber } from '../platform/common/paging.dto.js';

export class StatusInput {
  @IsBoolean()
  enabled!: boolean;
}

export class RecordQuery extends PageQuery {
  /**
   * part of the host, the remark or the value, any case; names are found as they are stored and as people write them.
   * Host, remark and value are searched in their first 2 500 characters together, of which one that is not ASCII takes
   * five: the end of a very long value is not found
   */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  override keyword?: string = undefined;

  /**
   * `id` (the default), `host` (or `name`), `type`, `value`, `ttl`, `updated_at` or `created_at`, with `-` in front for
   * descending; equal ones by their ids. Values are ordered by the code points of their first 250 characters
   */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  override sort?: string = undefined;

  /**
   * type, any case; or several of them with commas: `A,AAAA`. What is neither the name of a record type nor of records
   * of the domain is 400001
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1000)
  type?: string;

  /**
   * the host, `@` for the root, in any spelling that input may have: `API`, `bücher`, with a final dot the full name
   */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  /** the whole value, in any spelling that input may have */
  @IsOptional()
  @IsString()
  @MaxLength(66000)
  value?: string;

  /** exact routing line */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;

  /** only those that are in DNS, or only those that are not */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  enabled?: boolean;

  /** `true`: read the zone at the provider first */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  refresh?: boolean;

  /** `true`, with `refresh=true`: what the provider lists is right, even where it is suspiciously little */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  confirm?: boolean;

  /** another word for `host`, for older tools @deprecated */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  subdomain?: string;

  /** another word for `limit`, for older tools @deprecated */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(500)
  pageSize?: number;
}

export class RecordId {
  id!: number;
}

export class RecordList {
  total!: number;
  list!: RecordView[];
}
