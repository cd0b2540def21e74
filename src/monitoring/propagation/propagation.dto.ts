import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { ToNumber } from '../../platform/common/paging.dto.js';

/** seconds that one may wait at most */
export const MAX_WAIT_S = 300;

const STATUSES = ['published', 'stale', 'missing', 'unreachable'] as const;
export type Status = (typeof STATUSES)[number];
const VERDICTS = ['published', 'partial', 'unpublished', 'unreachable'] as const;
export type Verdict = (typeof VERDICTS)[number];

export class PropagationQuery {
  /** seconds to wait for the verdict `published`; the answer comes as soon as it is that */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(MAX_WAIT_S)
  wait?: number;
}

export class ServerView {
  /** `authoritative`: a name server of the zone, at one of its addresses; `resolver`: one of the settings */
  @ApiProperty({ enum: ['authoritative', 'resolver'] })
  role!: 'authoritative' | 'resolver';
  /** the name server's name; a resolver as the settings name it */
  name!: string;
  address!: string | null;
  /**
   * `published`: it answers with the set as it is here; `stale`: with something else; `missing`: with nothing;
   * `unreachable`: not at all, or not for this zone, see `error`
   */
  @ApiProperty({ enum: STATUSES })
  status!: Status;
  /** seconds, of its answer; of a resolver what is left of them */
  ttl!: number | null;
  /** of the zone's SOA there; a hint only, some vendors' never changes */
  serial!: number | null;
  latency_ms!: number | null;
  error!: string | null;
}

export class SetView {
  host!: string;
  type!: string;
  @ApiProperty({ enum: VERDICTS })
  verdict!: Verdict;
  servers!: ServerView[];
}

export class PropagationView {
  /**
   * of the authoritative servers: all `published`; some (`partial`); none (`unpublished`); `unreachable`: none of them
   * answers. Servers at addresses that this machine has no way to (no IPv6) are named, but not counted
   */
  @ApiProperty({ enum: VERDICTS })
  verdict!: Verdict;
  /** who says which servers the zone has: those of the zone above, a resolver, or the zone's own NS records */
  @ApiProperty({ enum: ['parent', 'resolver', 'zone'] })
  found_by!: 'parent' | 'resolver' | 'zone';
  /** each record set, as each server answers it */
  sets!: SetView[];
  /** those of the first set */
  servers!: ServerView[];
  checked_at!: string;
}
