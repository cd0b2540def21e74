import { IsBoolean, IsIn, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { PageQuery, ToNumber } from '../../platform/common/paging.dto.js';
import { TakesBack } from '../../platform/common/read-only.js';
import { Check, IsOmittable } from '../../platform/common/validation.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { isEmail, ONE_LINE } from '../../settings/checks.js';
import { UserView } from '../../users/user.dto.js';

const LONGEST = 1024;
const ROLES = [1, 2, 3];

class HeldToken {
  id!: number;
  name!: string;
  is_active!: boolean;
}

class HeldPasskey {
  id!: number;
  name!: string;
}

class HeldIdentity {
  /** key of the provider */
  provider!: string;
  /** for people: e-mail or login name at the provider */
  name!: string;
}

/** What goes on opening the account after its password was changed. */
export class Holdings {
  tokens!: HeldToken[];
  passkeys!: HeldPasskey[];
  identities!: HeldIdentity[];
}

export class UserUpdated extends UserView {
  /**
   * with a new password only: what goes on opening the account; `POST /api/users/:id/revoke-all` takes all of it away
   */
  holds?: Holdings;
}

export class RevokeInput {
  /**
   * whether the authenticator app and the recovery codes go, too: then the password alone opens the account, so set a
   * new one with it. Default: false
   */
  @IsOmittable()
  @IsBoolean()
  second_factor?: boolean;
}

/** How many of each were taken away. */
export class Revoked {
  sessions!: number;
  /** API tokens, deleted */
  tokens!: number;
  passkeys!: number;
  /** sign-ins at providers that were bound */
  identities!: number;
  /** whether an authenticator app was taken away */
  second_factor!: boolean;
}

export class UserQuery extends PageQuery {
  /** 1 ordinary user, 2 administrator, 3 super administrator */
  @IsOptional()
  @ToNumber()
  @IsIn(ROLES)
  role?: number;

  /** 1 active, 0 disabled */
  @IsOptional()
  @ToNumber()
  @IsIn([0, 1])
  status?: number;
}

export class UserInput {
  /** login name: letters, digits and `. _ @ + -`; unique, whatever the case */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  password!: string;

  /** display name; default: the user name */
  @IsOptional()
  @IsString()
  @MaxLength(128)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  nickname?: string | null;

  /** unique, whatever the case */
  @IsOptional()
  @Check(isEmail, 'must be an e-mail address')
  email?: string | null;

  /** 1 ordinary user (default), 2 administrator, 3 super administrator */
  @IsOmittable()
  @IsIn(ROLES)
  role?: number;
}

@TakesBack(UserView)
export class UserPatch {
  /** display name */
  @IsOmittable()
  @IsString()
  @MaxLength(128)
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  nickname?: string;

  /** null takes it away; another one counts as not verified, and ends open password resets */
  @IsOptional()
  @Check(isEmail, 'must be an e-mail address')
  email?: string | null;

  /** 1 ordinary user, 2 administrator, 3 super administrator; counts from the user's next request on */
  @IsOmittable()
  @IsIn(ROLES)
  role?: number;

  /** 1 active, 0 disabled: sessions end, API tokens are refused */
  @IsOmittable()
  @IsIn([0, 1])
  status?: number;

  /**
   * a new one, 10 to 128 characters that are not easy to guess; ends all sessions of the user, however they were
   * opened; the answer lists what else opens the account
   */
  @IsOmittable()
  @IsString()
  @MaxLength(LONGEST)
  password?: string;
}
