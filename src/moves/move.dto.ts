import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsInt, Max, Min } from 'class-validator';
import { IsOmittable, MAX_ID } from '../platform/common/validation.js';
import { MOVE_STATES, type MoveState } from './move.entity.js';
import { MoveReport } from './move-report.dto.js';

export class MoveInput {
  /** account that the domain goes to */
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id!: number;

  /** makes the zone at the provider of that account where it is not there */
  @IsOmittable()
  @IsBoolean()
  create?: boolean;
}

export class MoveCopyInput {
  /** records that stand in the other zone, and not in the domain, are deleted there; without it such are 409001 */
  @IsOmittable()
  @IsBoolean()
  replace?: boolean;
}

export const CHECKS = ['lost', 'replaced', 'in_flight', 'following', 'delegation', 'name_servers', 'answers'] as const;

export class MoveCheck {
  @ApiProperty({ enum: CHECKS })
  key!: (typeof CHECKS)[number];
  ok!: boolean;
  /** what was found */
  text!: string;
}

export class MoveView {
  id!: number;
  domain_id!: number;
  @ApiProperty({ enum: MOVE_STATES })
  state!: MoveState;
  /** account that the domain goes to */
  account_id!: number;
  /** account that it was in */
  from_account_id!: number;
  /** the domain of the other account: until the switch its new zone, after it its old one; null: it is not here */
  target_domain_id!: number | null;
  /** what the new provider cannot hold as it is */
  report!: MoveReport;
  @ApiProperty({ type: [MoveCheck] })
  checks!: MoveCheck[];
  /** differences of the zones at the last comparison, and since when there are some */
  behind!: number;
  behind_since!: string | null;
  /** why there are some, or why changes are not followed */
  error!: string | null;
  created_at!: string;
  updated_at!: string;
}
