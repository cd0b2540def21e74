import { ApiProperty } from '@nestjs/swagger';

export const SEVERITIES = ['critical', 'warning', 'hint'] as const;

const ISSUES = [
  'not_delegated',
  'parent_unknown',
  'no_server_answers',
  'server_unreachable',
  'server_lame',
  'answer_too_large',
  'ns_differ',
  'serial_differs',
  'one_server',
  'ds_without_key',
  'key_without_ds',
  'ns_changed',
] as const;

export class HealthIssue {
  @ApiProperty({ enum: ISSUES })
  code!: (typeof ISSUES)[number];
  /** `critical`: names may not be found, or not by everybody; `warning`: one failure away from it; `hint` */
  @ApiProperty({ enum: SEVERITIES })
  severity!: (typeof SEVERITIES)[number];
  /** what was found */
  text!: string;
  /** what to do about it, in one line */
  advice!: string;
}

class HealthServer {
  name!: string;
  /** null: the name has no address */
  address!: string | null;
  /** it answers, and serves the zone */
  ok!: boolean;
  /** it answers, but not for this zone */
  lame!: boolean;
  /** of its SOA */
  serial!: number | null;
  latency_ms!: number | null;
  error!: string | null;
}

class HealthNames {
  /** as the zone above delegates it; empty: it does not */
  parent!: string[];
  /** as the zone says itself; null: none of its servers answers */
  zone!: string[] | null;
}

export class ZoneHealthView {
  /** no `critical` and no `warning` */
  ok!: boolean;
  /** the zone above; null where it was not found */
  parent!: string | null;
  /** who says which servers the zone has: those of the zone above, a resolver, or the zone's own NS records */
  @ApiProperty({ enum: ['parent', 'resolver', 'zone'] })
  found_by!: 'parent' | 'resolver' | 'zone';
  ns!: HealthNames;
  /** DS at the zone above; null: not answered */
  ds!: string[] | null;
  servers!: HealthServer[];
  /** the worst first */
  @ApiProperty({ type: [HealthIssue] })
  issues!: HealthIssue[];
  checked_at!: string;
}
