import { IsIn, IsInt, IsNotEmpty, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { TakesBack } from '../platform/common/read-only.js';
import { IsOmittable, MAX_ID } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { ONE_LINE } from '../settings/checks.js';

export const TEAM_ROLES = ['owner', 'manager', 'member'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

class TeamFields {
  @IsOmittable()
  @IsString()
  @MaxLength(255)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  description?: string;
}

export class TeamInput extends TeamFields {
  @IsString()
  @MaxLength(128)
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  name!: string;
}

export class TeamView {
  id!: number;
  name!: string;
  description!: string;
  /** user id */
  created_by!: number | null;
  created_at!: string;
  member_count!: number;
  /** null: an administrator who is no member */
  my_role!: TeamRole | null;
}

export class TeamAccount {
  id!: number;
  name!: string;
  provider!: string;
}

export class TeamDetail extends TeamView {
  /** provider accounts in which the members may create domains */
  accounts!: TeamAccount[];
}

@TakesBack(TeamDetail)
export class TeamPatch extends TeamFields {
  @IsOmittable()
  @IsString()
  @MaxLength(128)
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  name?: string;
}

export class MemberInput {
  /** this or `username` */
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  user_id?: number;

  /** this or `user_id`; upper and lower case are the same */
  @IsOmittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username?: string;

  /** owner, manager, member (default); owners and administrators alone make owners and managers */
  @IsOmittable()
  @IsIn(TEAM_ROLES)
  role?: TeamRole;
}

export class MemberView {
  user_id!: number;
  username!: string;
  nickname!: string;
  role!: TeamRole;
  joined_at!: string;
}

@TakesBack(MemberView)
export class MemberRole {
  /** owner: everything; manager: members and permissions; member: what the team may do with domains */
  @IsIn(TEAM_ROLES)
  role!: TeamRole;
}
