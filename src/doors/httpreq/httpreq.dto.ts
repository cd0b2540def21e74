import { IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';

/** A challenge, by its name and text; or, in RAW mode, by what these are made of. */
export class ChallengeInput {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1100)
  fqdn?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(4096)
  value?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1100)
  domain?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(4096)
  keyAuth?: string;
}
