import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import type { ShownRecord } from '../../cache/dns-records.repository.js';
import { toUnicode } from '../../dns/names.js';
import { EXTRA_TYPES, MAX_TTL, RECORD_TYPES, readRecord, shownValue } from '../../dns/record.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { now } from '../../platform/common/clock.js';
import { fieldError } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { TakesBack } from '../../platform/common/read-only.js';
import { alsoJudge, IsTime, parseTime } from '../../platform/common/validation.js';
import { type FieldError } from '../../platform/common/words/codes.js';

const TYPES = [...RECORD_TYPES, ...EXTRA_TYPES];
/** As it is stored; what is no time is left for its rule. */
const ToTime = () => Transform(({ value }) => (typeof value === 'string' ? (parseTime(value) ?? value) : value));
const Upper = () => Transform(({ value }) => (typeof value === 'string' ? value.toUpperCase() : value));

export const HOST_MISSING = fieldError('host', 'is required; use "@" for the root of the domain', 'required');

/** The longest text of a TXT in presentation form, each octet as `\DDD`, cut into strings of 255. */
const MAX_VALUE = 262_144;

export class RecordView {
  id!: number;
  /** relative to the zone, A-labels, `@` for the root */
  host!: string;
  type!: string;
  value!: string;
  /** seconds */
  ttl!: number;
  line!: string;
  proxied!: boolean;
  priority!: number | null;
  weight!: number | null;
  enabled!: boolean;
  remark!: string;
  /** shown, but not to be edited: a type or content that the service does not know */
  read_only!: boolean;
  /** when it is deleted; null: it stays */
  expires_at!: string | null;
  /**
   * why it stays though `expires_at` is over: the right of who set it has ended, or a guard of the domain keeps it.
   * Another `expires_at`, or null, ends this
   */
  end_hold_reason!: string | null;
  /** why it is read-only; null where it is not, and until the next synchronisation after an upgrade */
  read_only_reason!: string | null;
  /** a change of it was sent to the provider, and it is not known yet whether it was applied */
  pending!: boolean;
  /** the host as people write it */
  unicode_host!: string;
  synced_at!: string;
  updated_at!: string;
  /** when the service first held it: written here, or first seen at the provider */
  created_at!: string;
}

class RecordFields {
  /**
   * seconds; default: `default_ttl` of the settings (600), or the TTL of the set that the record joins where the TTL
   * belongs to the set
   */
  @IsOptional()
  @IsInt()
  // what a range is, the provider says: the rules of records check it, together with the rest
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MAX_TTL })
  ttl?: number;

  /**
   * routing line of providers that have such; at a proxy-capable provider `1` means proxied and `0` DNS only, unless
   * `proxied` is given
   */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;

  /** proxy mode of a proxy-capable provider; wins over `line` */
  @IsOptional()
  @IsBoolean()
  proxied?: boolean;

  /** MX (default 10) and SRV (default 0); ignored for other types */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  priority?: number;

  /** for providers with weighted records */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  weight?: number;

  /** free text, kept here */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /**
   * the record is deleted then, at most a minute late, with the right of who sets this; takes the right to delete it.
   * ISO 8601, in the future; null: it stays. Left out, an update leaves the end as it is
   */
  @IsOptional()
  @ToTime()
  @IsTime()
  expires_at?: string | null;

  /** `false`: not in DNS; as by `PATCH status`, in one step with the rest */
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;

  /** another word for `host`, for older tools; given both, they must say the same @deprecated */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  name?: string;

  /** another word for `priority`, for older tools; given both, they must say the same @deprecated */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  mx?: number;
}

@TakesBack(RecordView)
export class RecordInput extends RecordFields {
  /**
   * `@` for the root, `www`, `*.a`, `_dmarc`; IDN accepted. A full name inside the zone ends with a dot
   * (`www.example.com.`): without it, one that ends with the zone's name is refused
   */
  @ApiProperty({ required: true })
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  @IsString()
  @Upper()
  @IsIn(TYPES)
  type!: string;

  /**
   * MX: the host; SRV: `weight port target`; CAA: `flags tag "value"`; TXT: the text itself, any length. A TXT that is
   * well-formed quoted strings is taken for presentation form, and a text that is itself such is shown in it, so that
   * what was read can be sent back
   */
  @IsString()
  @MaxLength(MAX_VALUE)
  value!: string;
}

/** A record as the API shows it. It was last seen at the provider at the domain's last sync, or when it was written. */
export const recordView = (row: ShownRecord, domain: Pick<DomainRow, 'synced_at'>): RecordView => ({
  id: row.id,
  host: row.host,
  type: row.type,
  value: shownValue(row, row.read_only),
  ttl: row.ttl,
  line: row.line,
  proxied: row.proxied,
  priority: row.priority,
  weight: row.weight,
  enabled: row.enabled,
  remark: row.remark,
  read_only: row.read_only,
  expires_at: row.expires_at ?? null,
  end_hold_reason: row.end_hold_reason ?? null,
  read_only_reason: row.read_only ? (row.read_only_reason ?? null) : null,
  pending: row.pending,
  unicode_host: toUnicode(row.host),
  synced_at: domain.synced_at && domain.synced_at > row.updated_at ? domain.synced_at : row.updated_at,
  updated_at: row.updated_at,
  created_at: row.created_at ?? row.updated_at,
});

/** The entity tag of a record's answer: what a client may have seen of its state, without the times. */
export const recordTag = (record: RecordView): string => {
  const { host, type, value, ttl, line, proxied, priority, weight, enabled, remark, expires_at } = record;
  const state = [host, type, value, ttl, line, proxied, priority, weight, enabled, remark, expires_at];
  return `"${sha256(JSON.stringify(state)).slice(0, 32)}"`;
};

/** Every field of a record, none of them required. */
export class RecordPatchFields extends RecordFields {
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  @IsOptional()
  @IsString()
  @Upper()
  // a record that is only shown has another one, which is no change: the rules of records check it
  @MaxLength(16)
  @ApiProperty({ enum: TYPES })
  type?: string;

  @IsOptional()
  @IsString()
  @MaxLength(MAX_VALUE)
  value?: string;
}

@TakesBack(RecordView)
export class RecordPatch extends RecordPatchFields {}

/** What is wrong with the well-shaped fields of a body, as far as it can be said without what is stored. */
export function mistakesOf({ host, name, type, value, ttl, priority }: RecordPatch, zone = ''): FieldError[] {
  const given = host ?? name;
  const isHostOpen = typeof given !== 'string' || (!zone && given.trim().endsWith('.'));
  const isValueOpen = typeof type !== 'string' || typeof value !== 'string';
  const open = { host: isHostOpen ? 'any' : undefined, value: isValueOpen ? '' : undefined };
  const input = { host: String(given), type: String(type ?? 'A'), value: String(value), ttl, priority };
  return readRecord(input, zone, open).mistakes;
}

/** What is wrong with the end that a record is given. */
export const mistakeOfEnd = (end: string | null | undefined): FieldError[] =>
  end && end <= now() ? [fieldError('expires_at', 'must be in the future', 'range')] : [];

alsoJudge(RecordInput, (body) => [
  ...mistakeOfEnd(body.expires_at),
  ...(body.host === undefined && body.name === undefined ? [HOST_MISSING] : []),
  ...mistakesOf(body),
]);
alsoJudge(RecordPatch, (body) => mistakesOf(body));
