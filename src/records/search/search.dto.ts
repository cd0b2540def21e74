import { IsBoolean, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { RecordView } from '../../changes/edits/record.dto.js';
import { PageQuery, ToBoolean, ToNumber } from '../../platform/common/paging.dto.js';
import { MAX_ID } from '../../platform/common/validation.js';

export class SearchQuery extends PageQuery {
  /** part of the host, the remark or the value, any case, as in the list of a domain */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  override keyword?: string = undefined;

  /** `id` (the default), `host` or `type`, with `-` in front for descending; equal ones by their ids */
  @IsOptional()
  @IsString()
  @MaxLength(32)
  override sort?: string = undefined;

  /**
   * type, any case; or several of them with commas: `A,AAAA`. What is neither the name of a record type nor of records
   * that the caller may read is 400001
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1000)
  type?: string;

  /** the host below its domain, `@` for the root, in any spelling that input may have */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  /** the whole value, in any spelling that input may have; names in it in full */
  @IsOptional()
  @IsString()
  @MaxLength(66000)
  value?: string;

  /** id or name of a domain; of a name that several have, all of them */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  domain?: string;

  /** id of an account: records of its domains */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id?: number;

  /** only those that are in DNS, or only those that are not */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  enabled?: boolean;
}

export class FoundRecord extends RecordView {
  domain_id!: number;
  /** name of the domain; of a private zone with its id at the provider in brackets */
  domain!: string;
}

export class FoundRecordList {
  total!: number;
  list!: FoundRecord[];
}
