import { IsBoolean, IsOptional } from 'class-validator';
import { ToBoolean } from '../platform/common/paging.dto.js';

export class RestoreQuery {
  /**
   * `true`: bring it back although it has the name of somebody else's domain, or lies below or above it (administrators
   * only)
   */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

class Deleter {
  user_id!: number | null;
  username!: string | null;
}

export class TrashedView {
  /** the domain's, which it has again when it is restored */
  id!: number;
  name!: string;
  account_id!: number;
  account_name!: string;
  owner_id!: number | null;
  deleted_at!: string;
  deleted_by!: Deleter;
  /** it can be restored until then */
  purged_at!: string;
}

export class TrashedList {
  total!: number;
  list!: TrashedView[];
}
