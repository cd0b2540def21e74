import { ApiProperty } from '@nestjs/swagger';
import {
  Allow,
  ArrayMaxSize,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { PageQuery, ToBoolean, ToNumber } from '../platform/common/paging.dto.js';
import { MAX_PATTERN } from '../platform/common/patterns.js';
import { TakesBack } from '../platform/common/read-only.js';
import { Check, IsOmittable, MAX_ID, NestedList } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { BoundQuery } from '../platform/http/wait.dto.js';
import { ONE_LINE } from '../settings/checks.js';

const MAX_RULES = 1000;
const MAX_NAME = 128;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** the provider's own programs take such a name for an id */
const isName = (value: unknown) => typeof value !== 'string' || !UUID.test(value.trim());

/** One rule. Rules are tried in their order, and the first that fits a request sends it to its service. */
class IngressRule {
  /**
   * `app.example.com`, or `*.example.com` for all names below; U-labels become A-labels. Left out, empty or `*`: any
   * name
   */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  hostname?: string;

  /** regular expression (RE2) that is looked for in the path of a request */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_PATTERN)
  path?: string;

  /**
   * `http://localhost:8080`, and so with https, ws, wss, tcp, ssh, rdp, smb, without a path; `unix:/path`,
   * `unix+tls:/path`, `http_status:404`, `bastion`, `socks-proxy`
   */
  @IsString()
  @IsNotEmpty()
  @MaxLength(512)
  service!: string;

  /**
   * how the service is spoken to, as Cloudflare names it (`noTLSVerify`, `httpHostHeader`, `connectTimeout` in whole
   * seconds …). Left out: as it is for this hostname and path; null: nothing of it
   */
  @IsOptional()
  @IsObject()
  originRequest?: Record<string, unknown> | null;
}

class TunnelFields {
  /**
   * Rules, 60 000 bytes at most; `http_status:404` for all else is added behind them, unless the last one is for all.
   * Where more than that of hostnames comes and goes at once, it is to be done in steps.
   */
  @IsOmittable()
  @ArrayMaxSize(MAX_RULES)
  @NestedList(() => IngressRule)
  ingress?: IngressRule[];

  /** a CNAME is kept for each hostname whose zone is a domain of the same account (true unless given) */
  @IsOmittable()
  @IsBoolean()
  dns_managed?: boolean;
}

export class TunnelInput extends TunnelFields {
  /** of a provider whose accounts can hold tunnels */
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id!: number;

  /** the provider's id of the account that is to have it, where the credentials see several */
  @IsOptional()
  @IsString()
  @Matches(/^[\w-]{1,64}$/)
  cloudflare_account?: string;

  /** unlike those of other live tunnels; a live one with this name is adopted */
  @IsString()
  @MaxLength(MAX_NAME)
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  @Check(isName, 'must not be a UUID')
  name!: string;
}

/** A connection between a connector (cloudflared) and its provider. */
class TunnelConnectionView {
  id!: string;
  /** of the connector: one has several connections */
  client_id!: string;
  /** of the connector's program */
  version!: string | null;
  /** data centre */
  colo!: string | null;
  origin_ip!: string | null;
  opened_at!: string | null;
  /** it dropped, and is expected back */
  reconnecting!: boolean;
}

export class Unmanaged {
  hostname!: string;
  /** why no CNAME is kept for it */
  reason!: string;
}

export class TunnelView {
  id!: number;
  account_id!: number;
  cloudflare_account!: string;
  /** the provider's id; null while it is being made */
  tunnel_id!: string | null;
  name!: string;
  /** `creating` and `deleting` go on by themselves where they were cut off: the first is undone, the second ended */
  state!: 'creating' | 'ready' | 'deleting';
  /**
   * as it was seen last: `inactive` (never run), `healthy`, `degraded`, `down`, or `missing` when the provider has it
   * no more. It says nothing of the services behind it. `state` is another thing: what is being done here
   */
  status!: string;
  /** as they were seen last */
  connections!: TunnelConnectionView[];
  ingress!: IngressRule[];
  /** of the configuration: raised with every change, by whomever; null: not known */
  version!: number | null;
  dns_managed!: boolean;
  /** hostnames without a CNAME of ours, or with one that no rule names any more, and why */
  unmanaged!: Unmanaged[];
  /** why the provider could not be asked last, or what was begun not be ended */
  last_error!: string | null;
  /**
   * why what was begun is not gone on with: the right of who began it ended; a PUT or DELETE by an administrator goes
   * on; null: it is not held
   */
  hold_reason!: string | null;
  created_at!: string;
}

export class TunnelCreated extends TunnelView {
  /** what cloudflared is run with, shown this once; null for a tunnel that was adopted */
  token!: string | null;
  /** the provider had it already */
  adopted!: boolean;
}

export class TunnelToken {
  /** what cloudflared is run with, shown this once */
  token!: string;
}

const Seen = (): PropertyDecorator => (target, property) => {
  Allow()(target, property);
  ApiProperty({ required: false, readOnly: true, description: 'taken back, whatever it is by now' })(target, property);
};

@TakesBack(TunnelView)
export class TunnelPatch extends TunnelFields {
  @IsOmittable()
  @IsString()
  @MaxLength(MAX_NAME)
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  @Check(isName, 'must not be a UUID')
  name?: string;

  /** what was seen: 409001 when the configuration has another one by now. Left out: what was seen here last */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_ID)
  version?: number;

  @Seen() status?: string;
  @Seen() connections?: TunnelConnectionView[];
  @Seen() unmanaged?: Unmanaged[];
  @Seen() last_error?: string | null;
  @Seen() hold_reason?: string | null;
}

export class TunnelQuery extends PageQuery {
  /** those of one account */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  account_id?: number;
}

export class TunnelForceQuery extends BoundQuery {
  /** `true`: also while connectors hold it: their secret is taken away and they are cut off */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}
