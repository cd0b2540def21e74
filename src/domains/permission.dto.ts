import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { toAscii } from '../dns/names.js';
import { isHostGlob } from '../platform/common/patterns.js';
import { Check, MAX_ID } from '../platform/common/validation.js';

/** What a team may be given on a domain. */
export const PERMISSIONS = ['read', 'write'] as const;

export class PermissionInput {
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  domain_id!: number;

  /** read or write */
  @IsIn(PERMISSIONS)
  permission!: (typeof PERMISSIONS)[number];

  /**
   * limits a write to records at these hosts, reading stays whole: `*` does not cross a dot, `**` does; the apex is
   * `@`, which of the globs only `**` meets. The wildcard record `*.dev` is `\*.dev`, or met by `**`. Records that hand
   * names on (NS, DS, DNAME) are never under a host
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

/** A right on a domain as its owner sees it. */
export class DomainPermissionView extends PermissionView {
  team_name!: string;
  /** id of the user who gave it; null: given before that was kept */
  granted_by!: number | null;
}
