import { IsOptional, IsString, MaxLength } from 'class-validator';

/** What clients ask for. Other fields, such as `wildcard` and `mx`, are left aside. */
export class HostsInput {
  /** one host or several, with commas between; left out: the user name */
  @IsOptional()
  @IsString()
  @MaxLength(6000)
  hostname?: string;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  myip?: string;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  myipv6?: string;

  /** a network that the IPv6 addresses of the hosts move to */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  ip6lanprefix?: string;

  /** `yes`: to be taken out of DNS, which no door does */
  @IsOptional()
  @IsString()
  @MaxLength(20)
  offline?: string;
}
