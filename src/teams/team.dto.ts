import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { isHostGlob } from '../common/patterns.js';
import { TakesBack } from '../common/read-only.js';
import { Check, IsOmittable, MAX_ID } from '../common/validation.js';
import { toAscii } from '../dns/names.js';
import { ONE_LINE } from '../settings/checks.js';

export const TEAM_ROLES = ['owner', 'manager', 'member'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

class TeamFields {
  @IsOmittable()
  @IsString()
  @MaxLength(255)
  @Matches(ONE_LINE, { message: '$property must be one line' })
  description?: string;
}

export class TeamInput extends TeamFields {
  @IsString()
  @MaxLength(128)
  @Matches(/\S/, { message: '$property must not be blank' })
  @Matches(ONE_LINE, { message: '$property must be one line' })
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
  @Matches(/\S/, { message: '$property must not be blank' })
  @Matches(ONE_LINE, { message: '$property must be one line' })
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

export class PermissionInput {
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  domain_id!: number;

  /** read or write */
  @IsIn(['read', 'write'])
  permission!: 'read' | 'write';

  /**
   * limits a write to records at these hosts, reading stays whole: `*` does not cross a dot, `**` does; the apex is `@`, which of the globs only `**` meets. The
   * wildcard record `*.dev` is `\*.dev`, or met by `**`. Records that hand names on (NS, DS, DNAME) are never under a host
   */
  @IsOptional()
  @Transform(({ value }) => (typeof value === 'string' ? toAscii(value) : value))
  @Check(isHostGlob, 'must be a host such as www, *.dev or @')
  host?: string | null;
}

export class PermissionView {
  id!: number;
  team_id!: number;
  domain_id!: number;
  domain_name!: string;
  permission!: 'read' | 'write';
  /** glob of the hosts that a write is limited to; null: the whole domain */
  host!: string | null;
}
