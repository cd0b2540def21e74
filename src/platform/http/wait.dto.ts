import { type PipeTransform, Query } from '@nestjs/common';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { requestDeadline } from '../common/deadline.js';
import { ToNumber } from '../common/paging.dto.js';

/** The query of a write that goes on behind its answer. */
export class WaitQuery {
  /** seconds that the answer waits for the end; 0: not at all */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(50)
  wait?: number;
}

/** The query of a write that is never answered 202; see `Bounded`. */
export class BoundQuery {
  /**
   * seconds that the request may take at most, from 1; left out: as long as requests may take. What is not begun by
   * then is not done, and fails with 500002, `retryable` and `applied: no`; what was sent and has no answer is in doubt
   * (`applied: unknown`), and gets its end from what the provider holds
   */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(50)
  wait?: number;
}

class Bound implements PipeTransform<BoundQuery, BoundQuery> {
  transform(query: BoundQuery): BoundQuery {
    if (query.wait !== undefined) requestDeadline().shorten(query.wait * 1000);
    return query;
  }
}

/** The query of a write, a `BoundQuery`: its `wait` moves the deadline of the request forward. */
export const Bounded = (): ParameterDecorator => Query(new Bound());
