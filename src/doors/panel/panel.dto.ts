import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { RecordView } from '../../changes/edits/record.dto.js';
import { DomainQuery } from '../../domains/domain.dto.js';
import { ToNumber } from '../../platform/common/paging.dto.js';

export class PanelDomainQuery extends DomainQuery {
  /** entries a page */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(500)
  pageSize?: number;
}

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
