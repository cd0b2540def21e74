import { IntersectionType, PickType } from '@nestjs/swagger';
import type { RecordView } from '../../changes/edits/record.dto.js';
import { DomainQuery } from '../../domains/domain.dto.js';
import { RecordQuery } from '../../records/records.dto.js';

/** Pages are asked for as those of records by older tools. */
export class PanelDomainQuery extends IntersectionType(DomainQuery, PickType(RecordQuery, ['pageSize'] as const)) {}

export interface PanelDomain {
  id: number;
  name: string;
}

export interface PanelRecord {
  /** ddns-go reads nothing but a text */
  id: string;
  /** relative to the domain, `@` for its root */
  name: string;
  type: string;
  value: string;
  ttl: number;
  line: string;
  mx: number | null;
}

/** A record as these clients know one. */
export const panelRecord = ({ id, host, type, value, ttl, line, priority }: RecordView): PanelRecord => ({
  id: String(id),
  name: host,
  type,
  value,
  ttl,
  line,
  mx: priority,
});
