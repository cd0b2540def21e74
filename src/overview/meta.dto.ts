import { ApiProperty } from '@nestjs/swagger';
import { PART_KINDS, type PartKind } from '../dns/value-parts.js';

class ValuePartView {
  name!: string;
  /** what is put in: `name` is a domain name, `parameters` are words such as `alpn=h2` */
  @ApiProperty({ enum: PART_KINDS })
  kind!: PartKind;
  /** false: it may be left out */
  required!: boolean;
  /** of numbers; null: no bound */
  min!: number | null;
  /** of numbers; null: no bound */
  max!: number | null;
  /** of a choice; null for all else */
  values!: string[] | null;
  /** it stands in quotes within the value */
  quoted!: boolean;
  example!: string;
}

class RecordValue {
  example!: string;
  /** in the order of the value's text, in which a blank stands between them */
  @ApiProperty({ type: [ValuePartView] })
  parts!: ValuePartView[];
}

class NumberField {
  required!: boolean;
  min!: number;
  max!: number;
  /** where it is left out */
  default!: number;
}

class RecordTypeView {
  type!: string;
  /** every provider takes it; for others see `types` of the provider's capabilities */
  common!: boolean;
  @ApiProperty({ type: RecordValue })
  value!: RecordValue;
  /** a field of its own; null: records of this type have none */
  @ApiProperty({ type: NumberField, nullable: true })
  priority!: NumberField | null;
}

class RecordFieldsView {
  /** seconds; `default_ttl` of the settings stands before this default, and providers may want more */
  @ApiProperty({ type: NumberField })
  ttl!: NumberField;
  @ApiProperty({ type: [RecordTypeView] })
  types!: RecordTypeView[];
}

class Meaning {
  name!: string;
  /** one sentence, English */
  meaning!: string;
}

class RoleView {
  role!: number;
  name!: string;
}

class CodeView {
  /** `code` of an answer */
  code!: number;
  /** HTTP status */
  status!: number;
  name!: string;
  meaning!: string;
}

export class MetaView {
  /** what the fields of a record take */
  @ApiProperty({ type: RecordFieldsView })
  records!: RecordFieldsView;
  /** of API tokens: `allowed_services` */
  @ApiProperty({ type: [Meaning] })
  scopes!: Meaning[];
  /** of API tokens: `preset.name` */
  @ApiProperty({ type: [Meaning] })
  presets!: Meaning[];
  /** of channels in the settings */
  notice_events!: string[];
  /** of `GET /api/events` */
  stream_events!: string[];
  /** by which way a change set came in */
  doors!: string[];
  languages!: string[];
  themes!: string[];
  /** of a team on a domain */
  permissions!: string[];
  /** of domains: which changes meet each */
  @ApiProperty({ type: [Meaning] })
  guards!: Meaning[];
  /** what becomes of a change that meets a guard: nothing, a warning, or a refusal unless `force` names it */
  guard_modes!: string[];
  /** of users, each with all rights of those before it */
  @ApiProperty({ type: [RoleView] })
  roles!: RoleView[];
  /** of members of a team */
  team_roles!: string[];
  /** what actions of the audit log begin with: `<noun>.<verb>` */
  audit_nouns!: string[];
  /** `code` of answers that failed, and of a sign-in that goes on */
  @ApiProperty({ type: [CodeView] })
  codes!: CodeView[];
  /** `data.errors[].code` of a failure */
  @ApiProperty({ type: [Meaning] })
  field_codes!: Meaning[];
}
