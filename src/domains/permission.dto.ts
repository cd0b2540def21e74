import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional } from 'class-validator';
import { type DomainReference, domainReference, REFERENCE_FORM, REFERENCE_SCHEMA } from '../dns/domain-reference.js';
import { toAscii } from '../dns/names.js';
import { isHostGlob } from '../platform/common/patterns.js';
import { Check, MAX_ID } from '../platform/common/validation.js';

function referenceOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // JSON has numbers for ids
  if (/^\d*$/.test(value)) return null;
  try {
    return domainReference(value);
  } catch {
    return null;
  }
}

const isReference = (value: unknown): boolean =>
  typeof value === 'string' || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_ID);

/** A field of a body that is a `DomainReference`. */
export const NamesDomain = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }) => referenceOf(value)),
    Check(isReference, REFERENCE_FORM),
    ApiProperty({ ...REFERENCE_SCHEMA, description: 'of the domain: its id, or its name, as in paths' }),
  );

/** What a team may be given on a domain. */
export const PERMISSIONS = ['read', 'write'] as const;

export class PermissionInput {
  @NamesDomain()
  domain_id!: DomainReference;

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
