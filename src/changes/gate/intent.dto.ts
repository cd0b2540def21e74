import { IntersectionType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import { ToBoolean } from '../../platform/common/paging.dto.js';
import { BoundQuery, WaitQuery } from '../../platform/http/wait.dto.js';

/** Query text `a,b`, once or several times, as a list. */
const ToKeys = () =>
  Transform(({ value }) => [value].flat().flatMap((one: unknown) => (typeof one === 'string' ? one.split(',') : one)));

/** Why something is done in spite of a freeze: `WaitsInterceptor` reads it. */
export class OverrideQuery {
  /** why it is made in spite of a freeze, or outside of the windows (423002): for role 3; the log has it */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  override?: string;
}

/** What the query of a write of records says of the way in which it is meant: `WriteInterceptor` reads it. */
export class IntentQuery extends OverrideQuery {
  /**
   * `true`: nothing is written or stored; the answer is 200 with the plan of this write, `id: null`. What the write
   * would be refused for is refused in the same way, but for guards, which the plan names
   */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  dry_run?: boolean;

  /** guards that are meant, with commas between: without them a change that meets one of mode `force` is 409003 */
  @IsOptional()
  @ToKeys()
  @IsIn(GUARDS, { each: true })
  force?: GuardKey[];
}

/** The query of a write of records that is never answered 202; see `Bounded`. */
export class WriteQuery extends IntersectionType(BoundQuery, IntentQuery) {}

/** The query of what applies a plan. */
export class ApplyQuery extends IntersectionType(WaitQuery, OverrideQuery) {}
