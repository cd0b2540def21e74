import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { isKnownType } from '../../dns/record.js';
import { fieldError } from '../../platform/common/errors.js';
import { isHostGlob } from '../../platform/common/patterns.js';
import { isTimezone } from '../../platform/common/time-zone.js';
import { Check, IsOmittable, IsTime, MAX_ID, Nested, NestedList, parseTime } from '../../platform/common/validation.js';
import type { FieldError } from '../../platform/common/words/codes.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { APPROVALS, type Approval, DRIFT_MODES, type Drift } from './change-rules.js';
import type { Names } from './scope.js';
import { DAYS, type Day, type Freeze, type Window } from './windows.js';

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
const TimeOfDay = () => Matches(TIME_OF_DAY, { message: ruleText('must be a time of day, HH:MM') });

/** Types that can be written, in any case: of others nothing is ever changed, and nothing differs. */
export const AreTypes = () =>
  Check(
    (types) =>
      Array.isArray(types) && types.every((type) => typeof type === 'string' && isKnownType(type.toUpperCase())),
    'must be record types',
  );

/** Who may approve: whoever one of these is true of, and who may read all records that a plan changes. */
export class ApprovalBy {
  /** whoever has at least this role */
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(3)
  role?: number;

  /** whoever is in this team */
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  team_id?: number;

  /** these users */
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_ID, { each: true })
  user_ids?: number[];
}

export class ApprovalInput {
  /** `guarded`: writes that meet a guard which is not `off`; `all`: every write */
  @IsIn(APPROVALS)
  for!: Approval['for'];

  /** at least one of its fields is needed, unless nothing waits */
  @IsOmittable()
  @Nested(() => ApprovalBy)
  by?: ApprovalBy;

  /** whether who asked may approve it, if they are one of these; default false */
  @IsOmittable()
  @IsBoolean()
  own?: boolean;
}

export class FreezeInput {
  @IsTime()
  from!: string;

  /** later than `from` */
  @IsTime()
  until!: string;

  /** why, for whoever is refused */
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  reason!: string;

  /** `true`: answers to ACME challenges (TXT at `_acme-challenge`) are frozen, too; default false */
  @IsOmittable()
  @IsBoolean()
  acme?: boolean;
}

export class WindowInput implements Window {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(DAYS, { each: true })
  days!: Day[];

  /** `HH:MM` on each of the days, by the clock on the wall */
  @TimeOfDay()
  from!: string;

  /** `HH:MM`; on the next day where it is not later than `from` */
  @TimeOfDay()
  until!: string;

  /** such as Europe/Berlin */
  @Check(isTimezone, 'must be a time zone name such as Europe/Berlin')
  timezone!: string;
}

/** Record sets; one of the fields is needed. */
export class IgnoredNames implements Names {
  /** globs, as in the rules of tokens; left out: every host */
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @Check((hosts) => Array.isArray(hosts) && hosts.every(isHostGlob), 'must be hosts such as www, *.dev or @')
  hosts?: string[];

  /** left out: every type */
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @AreTypes()
  types?: string[];
}

export class DriftInput {
  /**
   * `adopt`: what somebody changed at the provider is taken as it is; `report`: what was here stays what is wanted, and
   * `GET …/drift` lists what differs; `revert`: that is taken back, too, where it meets no guard
   */
  @IsIn(DRIFT_MODES)
  mode!: Drift['mode'];

  /** sets that others keep: they never differ, and plans of `sync` leave them alone; default none */
  @IsOmittable()
  @NestedList(() => IgnoredNames)
  @ArrayMaxSize(100)
  ignore?: IgnoredNames[];
}

export class ApprovalView implements Approval {
  for!: Approval['for'];
  by!: ApprovalBy;
  own!: boolean;
}

export class IgnoredNamesView implements Names {
  hosts?: string[];
  types?: string[];
}

export class DriftRulesView implements Drift {
  mode!: Drift['mode'];
  ignore!: IgnoredNamesView[];
}

export class FreezeView implements Freeze {
  from!: string;
  until!: string;
  reason!: string;
  acme!: boolean;
}

export class WindowView implements Window {
  days!: Day[];
  from!: string;
  until!: string;
  timezone!: string;
}

/** What of a domain's rules the owner sets, as a body has it. */
interface Wish {
  approval?: ApprovalInput;
  freeze?: FreezeInput | null;
  windows?: WindowInput[];
  drift?: DriftInput;
}

/** What is wrong with fields that are each well formed. */
export function wrongRules({ approval, freeze, drift }: Wish): FieldError[] {
  const wrong: FieldError[] = [];
  const isNobody = !Object.values(approval?.by ?? {}).some((value) => value !== undefined);
  if (approval && approval.for !== 'none' && isNobody)
    wrong.push(fieldError('approval.by', 'must name a role, a team_id or user_ids', 'required'));
  if (freeze && timeOf(freeze.until) <= timeOf(freeze.from))
    wrong.push(fieldError('freeze.until', 'must be later than from', 'range'));
  for (const [i, { hosts, types }] of drift?.ignore?.entries() ?? [])
    if (!hosts && !types) wrong.push(fieldError(`drift.ignore.${i}`, 'must name hosts or types', 'required'));
  return wrong;
}

/** The rules of a body as they are stored. */
export function rulesOf({ approval, freeze, windows, drift }: Wish): {
  approval?: Approval;
  freeze?: Freeze | null;
  windows?: Window[];
  drift?: Drift;
} {
  return {
    ...(approval && { approval: { for: approval.for, by: { ...approval.by }, own: approval.own ?? false } }),
    ...(freeze !== undefined && { freeze: freeze && frozen(freeze) }),
    ...(windows && { windows: windows.map(({ days, from, until, timezone }) => ({ days, from, until, timezone })) }),
    ...(drift && { drift: { mode: drift.mode, ignore: (drift.ignore ?? []).map(named) } }),
  };
}

const named = ({ hosts, types }: IgnoredNames): Names => ({
  ...(hosts && { hosts }),
  ...(types && { types: types.map((type) => type.toUpperCase()) }),
});
const timeOf = (text: string): string => parseTime(text) ?? '';
const frozen = ({ from, until, reason, acme }: FreezeInput): Freeze => ({
  ...{ from: timeOf(from), until: timeOf(until), reason, acme: acme ?? false },
});
