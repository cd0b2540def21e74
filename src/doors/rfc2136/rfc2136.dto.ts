import { ArrayMaxSize, IsArray, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { TSIG_ALGORITHMS } from '../../dns/tsig.js';
import { TakesBack } from '../../platform/common/read-only.js';

export class TsigKeyInput {
  /** hmac-sha256 unless another is named; hmac-md5 and hmac-sha1 are for clients that know nothing better */
  @IsOptional()
  @IsIn(TSIG_ALGORITHMS)
  algorithm?: string;
}

/** What became of the last message to a secondary. */
export class Notified {
  target!: string;
  /** the zone that it told of */
  zone!: string;
  told_at!: string;
  /** why it was not taken; null: it was */
  error!: string | null;
}

export class TsigKeyView {
  /** by which messages name it */
  name!: string;
  algorithm!: string;
  created_at!: string;
  /** secondaries that are told of changes (RFC 1996): `host:port` */
  notify!: string[];
  /** of those that were told of one */
  notified!: Notified[];
}

@TakesBack(TsigKeyView)
export class TsigKeyUpdate {
  /** secondaries that are told of changes of the zones that the key may transfer: `host`, `host:port` */
  @IsArray()
  @ArrayMaxSize(8)
  @IsString({ each: true })
  @MaxLength(260, { each: true })
  notify!: string[];
}

export class TsigKeyCreated extends TsigKeyView {
  /** that messages are signed with, in base64; shown this once */
  secret!: string;
}
