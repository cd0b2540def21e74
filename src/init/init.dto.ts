import {
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { Nested } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';

class SqliteInput {
  /** a file name inside the data directory */
  @IsString()
  @Matches(/^(?!(database\.json|secret\.key)$)[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/i, {
    message: ruleText('must be a free file name inside the data directory: letters, digits, ".", "_" and "-"'),
  })
  path!: string;
}

class ServerInput {
  /** name or address; no path of a socket */
  @IsString()
  @MaxLength(253)
  @Matches(/^[A-Za-z0-9_.:-]+$/, { message: ruleText('must be a host name or an address') })
  host!: string;

  @IsInt()
  @Min(1)
  @Max(65535)
  port!: number;

  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  database!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  user!: string;

  @IsString()
  @MaxLength(256)
  password!: string;

  /** TLS, certificate checked */
  @IsOptional()
  @IsBoolean()
  ssl?: boolean;
}

export class DatabaseInput {
  @IsIn(['sqlite', 'mysql', 'postgresql'])
  type!: 'sqlite' | 'mysql' | 'postgresql';

  @ValidateIf((o: DatabaseInput) => o.sqlite !== undefined)
  @Nested(() => SqliteInput)
  sqlite?: SqliteInput;

  @ValidateIf((o: DatabaseInput) => o.type === 'mysql' || o.mysql !== undefined)
  @Nested(() => ServerInput)
  mysql?: ServerInput;

  @ValidateIf((o: DatabaseInput) => o.type === 'postgresql' || o.postgresql !== undefined)
  @Nested(() => ServerInput)
  postgresql?: ServerInput;

  /** needed when the service was started with SETUP_CODE */
  @IsOptional()
  @IsString()
  @MaxLength(256)
  setup_code?: string;
}

export class AdminInput {
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  /** 10 to 128 characters, not easy to guess */
  @IsString()
  @MaxLength(128)
  password!: string;

  @IsOptional()
  @IsString()
  @MaxLength(254)
  email?: string;

  @IsOptional()
  @IsString()
  @MaxLength(128)
  nickname?: string;

  /** needed when the service was started with SETUP_CODE */
  @IsOptional()
  @IsString()
  @MaxLength(256)
  setup_code?: string;
}

export class InitStatus {
  /** the service can be used */
  initialized!: boolean;
  dbInitialized!: boolean;
  hasUsers!: boolean;
}

export class TestResult {
  success!: boolean;
  /** in plain words */
  message!: string;
  /** the database holds tables of this service */
  hasExistingData!: boolean;
}

export class Done {
  success!: boolean;
}
