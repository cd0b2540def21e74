import { IsNotEmpty, IsObject, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ruleText } from '../../platform/common/words/field-text.js';

/** One line that does not begin or end with a blank. */
const NAME = /^[^\s\p{Cc}](?:[^\p{Cc}\p{Zl}\p{Zp}]*[^\s\p{Cc}])?$/u;
const NAME_WORDS = { message: ruleText('must be one line without blanks around it') };

export class PasskeyStart {
  /** to be sent back at `finish`; good for five minutes, once */
  challenge_id!: string;

  /**
   * for `navigator.credentials`, in the JSON form of WebAuthn Level 3 (`parseCreationOptionsFromJSON`,
   * `parseRequestOptionsFromJSON`)
   */
  options!: Record<string, unknown>;
}

class PasskeyFinish {
  /** from `start` */
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  challenge_id!: string;

  /** what `navigator.credentials` gave, in its JSON form (`toJSON()`); fields that are not known are ignored */
  @IsObject()
  response!: Record<string, unknown>;
}

export class PasskeyRegistration extends PasskeyFinish {
  /** label; default: `Passkey 1`, the first number that is free */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  @Matches(NAME, NAME_WORDS)
  name?: string;
}

export class PasskeyLoginStart {
  /** login name, any case; left out: the passkey says who it is */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username?: string;
}

export class PasskeyLoginFinish extends PasskeyFinish {}

export class PasskeyName {
  @IsString()
  @MaxLength(64)
  @Matches(NAME, NAME_WORDS)
  name!: string;
}

export class PasskeyCreated {
  id!: number;
  name!: string;
}

export class PasskeyView {
  id!: number;
  name!: string;
  /** how the browser reaches it: internal, usb, nfc, ble, hybrid, smart-card */
  transports!: string[];
  /** whether it is kept at more than one device, as told at its last use */
  backed_up!: boolean;
  created_at!: string;
  /** null until the first sign-in */
  last_used_at!: string | null;
}
