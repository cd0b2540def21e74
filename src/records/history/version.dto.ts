import { PickType } from '@nestjs/swagger';
import type { Door } from '../../changes/history/change-set.entity.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { ChangeActor, ChangedRecordView } from './change.dto.js';

export class VersionQuery extends PickType(PageQuery, ['page', 'limit']) {}

/** How many records a version made, changed and took away. */
export class VersionCounts {
  create!: number;
  update!: number;
  delete!: number;
}

export class VersionView {
  /** from 1: the first reading of the zone, or what was found when versions began */
  version!: number;
  /** null: it is where versions begin; a set that others came between has several versions */
  change_set_id!: number | null;
  created_at!: string;
  actor!: ChangeActor;
  /** by which way its changes came in; `provider`: somebody made them there, and a synchronisation found them */
  door!: Door;
  comment!: string;
  /** to the version before, of the first one its records; null for tokens with rules */
  counts!: VersionCounts | null;
  /** the states before it are not kept: it is older than versions are, or than the settings keep */
  inherited!: boolean;
}

export class VersionList {
  total!: number;
  list!: VersionView[];
}

/** A record as it was. */
export class PastRecord extends ChangedRecordView {
  /** the record keeps it as long as it exists */
  record_id!: number;
}

export class PastRecordList {
  total!: number;
  /** in the order of their ids; of the SOA, which providers write by themselves, the present state */
  list!: PastRecord[];
}

export class Difference {
  /** what became of the record, all changes in between together */
  op!: 'create' | 'update' | 'delete';
  record_id!: number;
  host!: string;
  type!: string;
  before!: ChangedRecordView | null;
  after!: ChangedRecordView | null;
}

export class VersionDiff {
  from!: number;
  to!: number;
  changes!: Difference[];
  /** how many more there are of records that the caller may not read */
  hidden!: number;
}
