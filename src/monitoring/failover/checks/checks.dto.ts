import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Nested, NestedList } from '../../../platform/common/validation.js';

/** A node of a newer version may ask with more: fields that this one does not know are left aside, not refused. */
const Known = (...names: string[]): PropertyDecorator =>
  Transform(({ value }) => {
    for (const name of value instanceof Object ? Object.keys(value) : []) if (!names.includes(name)) delete value[name];
    return value;
  });

/** How a target is checked. */
class RemoteCheck {
  @IsIn(['tcp', 'http', 'https'])
  kind!: 'tcp' | 'http' | 'https';

  @IsInt()
  @Min(1)
  @Max(65535)
  port!: number;

  @IsOptional()
  @Matches(/^\/[\x21-\x7e]{0,1023}$/)
  path!: string | null;

  @IsOptional()
  @IsInt()
  expect_status!: number | null;

  @IsOptional()
  @IsString()
  @MaxLength(1000)
  expect_body!: string | null;

  @IsInt()
  @Min(1)
  @Max(60)
  timeout_s!: number;

  @IsBoolean()
  verify_tls!: boolean;

  /** true: only a public address may be asked, whatever `OUTBOUND_ALLOW` of this node lists */
  @IsOptional()
  @IsBoolean()
  public_only?: boolean;
}

class RemoteTarget {
  /** address or name */
  @IsString()
  @MaxLength(255)
  value!: string;

  /** what HTTP and TLS are told */
  @IsString()
  @MaxLength(255)
  name!: string;

  @Known('kind', 'port', 'path', 'expect_status', 'expect_body', 'timeout_s', 'verify_tls', 'public_only')
  @Nested(() => RemoteCheck)
  check!: RemoteCheck;
}

export class ChecksInput {
  @ArrayMaxSize(100)
  @NestedList(() => RemoteTarget)
  checks!: RemoteTarget[];
}

class VoteView {
  /** null: this node cannot say, since it has lost its own network */
  up!: boolean | null;
  error!: string | null;
  latency_ms!: number | null;
}

export class ChecksResult {
  /** in the order of the targets */
  votes!: VoteView[];
}
