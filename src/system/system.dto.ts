import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

export class UnlockInput {
  /** login name, any case */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;
}

export class UnlockResult {
  /** locks that were taken away, one a network */
  unlocked!: number;
}

export class LoginCounts {
  ok!: number;
  failed!: number;
}

class LoginDay extends LoginCounts {
  /** of the time zone in the settings */
  day!: string;
}

class LockedName {
  username!: string;
  /** IPv4 address or IPv6 /64 */
  network!: string;
  locked_until!: string;
}

class NetworkCount {
  network!: string;
  /** failed logins in 24 hours */
  failed!: number;
}

export class LoginStats {
  last_24h!: LoginCounts;
  /** 30 days, the newest first; days without logins are left out */
  by_day!: LoginDay[];
  locked!: LockedName[];
  /** the ten with the most failures */
  top_networks!: NetworkCount[];
}

export class DatabaseVersion {
  type!: 'sqlite' | 'postgresql' | 'mysql';
  /** as the database tells it: that of MariaDB says so */
  version!: string;
}

class MemoryUse {
  /** bytes of the process */
  rss!: number;
  heap_used!: number;
  heap_total!: number;
}

class SystemPause {
  since!: string;
  reason!: string;
}

export class Resumed {
  /** always true: a failure is a failure */
  resumed!: boolean;
}

export class SystemStatus {
  /** of this program */
  version!: string;
  database!: DatabaseVersion;
  /** seconds since the start of the process */
  uptime!: number;
  /** zone of the settings */
  timezone!: string;
  /** version of Node.js */
  node!: string;
  pid!: number;
  /** name of the machine or container that answers */
  replica!: string;
  memory!: MemoryUse;
  /** none: it is not used; away: it does not answer, and what stands on it is done without it */
  redis!: 'none' | 'up' | 'away';
  /**
   * number of jobs by their state; `failing`: those that come again and again whose last run failed, or that have
   * stopped; `stopped`: these alone
   */
  jobs!: Record<string, number>;
  /** of a database that was restored or copied: no jobs run, and providers are not written to; null: it works */
  paused!: SystemPause | null;
  /** seconds by which the clock of this machine is ahead of that of the database, which all processes go by */
  clock_offset_seconds!: number;
}

class TableRows {
  name!: string;
  rows!: number;
}

export class DatabaseStatus extends DatabaseVersion {
  size_bytes!: number;
  /** ms that the shortest statement takes */
  latency_ms!: number;
  /** names of those that were applied, the oldest first */
  migrations!: string[];
  tables!: TableRows[];
}

export class CacheCleared {
  /** cached records that are compared with their providers now */
  records!: number;
  /** that compares them: `GET /api/system/jobs/:id` */
  job_id!: number;
  /** null: the job goes on */
  ended_at!: string | null;
  /** accounts whose connection was dropped, with the tokens, zones and limits that it remembered */
  lookups!: number;
}
