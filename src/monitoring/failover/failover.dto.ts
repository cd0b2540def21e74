import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
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
import { ToBoolean } from '../../platform/common/paging.dto.js';
import { hasRoom, IsTime, MAX_ID, Nested, NestedList } from '../../platform/common/validation.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { BoundQuery } from '../../platform/http/wait.dto.js';

const CHECK_KINDS = ['tcp', 'http', 'https', 'ping'] as const;
const RULE_TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS'] as const;
const SIDES = ['primary', 'backup'] as const;
const MAX_RULES = 1000;
const MAX_VALUES = 50;
/** of all rules of a domain: each is checked by itself */
export const MAX_TARGETS = 2000;
/** seconds of one check: a target that hangs takes a place for so long */
export const MAX_TIMEOUT_S = 10;

/** How each value of a rule is checked. */
export class CheckInput {
  /**
   * tcp: something listens; http, https: it answers. ping is refused, with the reason: Node has no way to send one
   * without a shell
   */
  @IsIn(CHECK_KINDS)
  kind!: (typeof CHECK_KINDS)[number];

  /** required for tcp; default: 80 of http, 443 of https */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(65535)
  port?: number | null;

  /** of http and https, with query; default: `/` */
  @IsOptional()
  @Matches(/^\/[\x21-\x7e]{0,1023}$/, { message: ruleText('must begin with "/", without blanks') })
  path?: string | null;

  /** the one HTTP status that is right; default: all from 200 to 399. Redirects are not followed */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(599)
  expect_status?: number | null;

  /** text that the first 64 KiB of the answer hold; where an address is not public, for administrators (403001) */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  expect_body?: string | null;

  /** seconds between two checks; default: 30 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3600)
  interval_s?: number | null;

  /** seconds that one check may take, at most the interval and 10; default: 5, or the interval */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_TIMEOUT_S)
  timeout_s?: number | null;

  /** failures in a row until a value is down; default: 3 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(20)
  fall?: number | null;

  /** successes in a row until it is up again; default: 2 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(20)
  rise?: number | null;

  /** of https: the certificate must be valid, and of the name of the record set; default: false */
  @IsOptional()
  @IsBoolean()
  verify_tls?: boolean | null;
}

/** A time in which nothing is switched by itself; it is checked all the same. */
class Maintenance {
  @IsTime()
  start_time!: string;

  @IsTime()
  end_time!: string;
}

class ValueHealth {
  value!: string;
  /** null: not known yet */
  up!: boolean | null;
  last_check_at!: string | null;
  /** why the last check failed, or why it does not count */
  last_error!: string | null;
  /** of the last check, when it succeeded */
  latency_ms!: number | null;
}

export class RuleState {
  /** the side that is served */
  active!: 'primary' | 'backup';
  /** of both sides; some seconds old */
  values!: ValueHealth[];
  /** the last switch */
  switched_at!: string | null;
  /** how often was switched, values of one side that came and went included */
  switches!: number;
  /** why the rule is on hold; null also where somebody has set `hold` */
  hold_reason!: string | null;
  /** why its last switch failed, such as a freeze or an approval not given yet; it is tried again; null: none did */
  failure!: string | null;
  /**
   * until when it brings nothing back by itself, since it has switched too often; null: it may. It goes on switching
   * away from what is down
   */
  limited_until!: string | null;
  /** id of the user who made or released it last, and with whose right it switches; null: nobody is known */
  made_by!: number | null;
}

export class FailoverRuleInput {
  /** of a rule that is there: it stays the same; left out: a new one */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  id?: number | null;

  /**
   * of the rule when it was read: `hold: false` then releases no hold that came since (409001); left out: it does
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  version?: number | null;

  /** name of the record set, as of a record: `@`, `www` */
  @IsString()
  @MaxLength(300)
  host!: string;

  @Transform(({ value }) => (typeof value === 'string' ? value.toUpperCase() : value))
  @IsIn(RULE_TYPES)
  type!: (typeof RULE_TYPES)[number];

  /** routing line of the record set, of providers that have such; default: `default` */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string | null;

  /**
   * what the set holds as long as it works: all of A and AAAA that do, of CNAME and ALIAS the first one. Addresses must
   * be public, or in `OUTBOUND_ALLOW`
   */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_VALUES)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(255, { each: true })
  primary!: string[];

  /** what it holds in the same way while none of the primary ones works; may be empty */
  @IsArray()
  @ArrayMaxSize(MAX_VALUES)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(255, { each: true })
  backup!: string[];

  @Nested(() => CheckInput)
  check!: CheckInput;

  /** back to primary when some of it works again; default: true. False: somebody switches back */
  @IsOptional()
  @IsBoolean()
  auto_switch_back?: boolean | null;

  /**
   * nothing is switched by itself; default: false. A rule sets it, and says why, when it finds the record set changed
   * by somebody else, or when the right of who made it has ended; `false` then lets it begin anew with what the set
   * holds, and with the right of who says so
   */
  @IsOptional()
  @IsBoolean()
  hold?: boolean | null;

  /** tell the channels of `failover.switched` and `failover.failed`; default: true */
  @IsOptional()
  @IsBoolean()
  notify?: boolean | null;

  /**
   * after so many switches by itself within an hour it waits with bringing back what works again; default: 6. A switch
   * away from what is down never waits
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(60)
  max_switches_per_hour?: number | null;

  /** times in which nothing is switched by itself */
  @IsOptional()
  @ArrayMaxSize(10)
  @NestedList(() => Maintenance)
  maintenance?: Maintenance[] | null;

  /** as it was told; not read */
  @Allow()
  @ApiProperty({ type: RuleState, readOnly: true, required: false })
  state?: unknown;
}

export class FailoverInput {
  /** false: nothing is checked or switched */
  @IsBoolean()
  enabled!: boolean;

  /** all rules: those that are not named go. Together they have 2000 values at most */
  @ArrayMaxSize(MAX_RULES)
  @NestedList(() => FailoverRuleInput)
  rules!: FailoverRuleInput[];
}
// what GET tells may be sent back, with the state of each value
hasRoom(FailoverInput, MAX_RULES * 100);

class CheckView {
  kind!: 'tcp' | 'http' | 'https';
  port!: number;
  path!: string | null;
  expect_status!: number | null;
  expect_body!: string | null;
  interval_s!: number;
  timeout_s!: number;
  fall!: number;
  rise!: number;
  verify_tls!: boolean;
}

class MaintenanceView {
  start_time!: string;
  end_time!: string;
}

export class RuleView {
  id!: number;
  /** raised with every change of the rule, switches included */
  version!: number;
  host!: string;
  type!: string;
  line!: string;
  primary!: string[];
  backup!: string[];
  check!: CheckView;
  auto_switch_back!: boolean;
  hold!: boolean;
  notify!: boolean;
  max_switches_per_hour!: number;
  maintenance!: MaintenanceView[];
  state!: RuleState;
}

export class FailoverView {
  enabled!: boolean;
  rules!: RuleView[];
}

export class SwitchInput {
  @IsIn(SIDES)
  to!: 'primary' | 'backup';

  /** whether the rule is on hold from then on; left out: only where it would switch again at once */
  @IsOptional()
  @IsBoolean()
  hold?: boolean | null;
}

export class SwitchQuery extends BoundQuery {
  /** `true`: only tell what would be done */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  dryRun?: boolean;
}

export class SwitchResult {
  rule_id!: number;
  dry_run!: boolean;
  /** the side that is, or would be, served */
  active!: 'primary' | 'backup';
  /** what the provider held */
  before!: string[];
  /** what it holds now, or would */
  after!: string[];
  /** whether the rule is, or would be, on hold */
  hold!: boolean;
  /** the list of changes; null: nothing was to be written */
  change_set_id!: number | null;
  /** of a rehearsal: why it would be refused */
  refused!: string | null;
}
