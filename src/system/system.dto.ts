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

export class LoginDay extends LoginCounts {
  /** of the time zone in the settings */
  day!: string;
}

export class LockedName {
  username!: string;
  /** IPv4 address or IPv6 /64 */
  network!: string;
  locked_until!: string;
}

export class NetworkCount {
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
