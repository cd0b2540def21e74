import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { MAX_ID } from '../../platform/common/validation.js';

export class HookInput {
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  domain_id!: number;

  /** `@`, `www`: relative to the domain, or its full name */
  @IsString()
  @IsNotEmpty()
  @MaxLength(1100)
  host!: string;

  /** of the record set that it sets: `A` */
  @IsString()
  @IsNotEmpty()
  @MaxLength(16)
  type!: string;

  /** what it is for */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  name?: string;
}

export class HookView {
  id!: number;
  /** where deliveries go */
  url!: string;
  domain_id!: number;
  host!: string;
  type!: string;
  name!: string;
  created_at!: string;
}

export class HookCreated extends HookView {
  /** that deliveries are signed with; shown this once */
  secret!: string;
}

/** What a set shall hold. */
export class DeliveryInput {
  @IsOptional()
  @IsString()
  @MaxLength(262_144)
  value?: string;

  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(1000)
  @IsString({ each: true })
  @MaxLength(262_144, { each: true })
  values?: string[];
}

/** What a delivery came to. */
export interface Delivered {
  name: string;
  type: string;
  values: string[];
  /** whether something had to be written at the provider, where its token may know */
  changed: boolean;
}
