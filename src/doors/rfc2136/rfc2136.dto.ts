import { IsIn, IsOptional } from 'class-validator';
import { TSIG_ALGORITHMS } from '../../dns/tsig.js';

export class TsigKeyInput {
  /** hmac-sha256 unless another is named; hmac-md5 and hmac-sha1 are for clients that know nothing better */
  @IsOptional()
  @IsIn(TSIG_ALGORITHMS)
  algorithm?: string;
}

export class TsigKeyView {
  /** by which messages name it */
  name!: string;
  algorithm!: string;
  created_at!: string;
}

export class TsigKeyCreated extends TsigKeyView {
  /** that messages are signed with, in base64; shown this once */
  secret!: string;
}
