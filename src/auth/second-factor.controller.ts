import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Audited, type Caller, Me } from '../common/access.js';
import { SecondFactorService } from '../security/second-factor.service.js';
import { TotpSetup } from '../security/security.dto.js';
import { CodeInput, DisableInput, RecoveryCodes } from './auth.dto.js';
import { AuthService } from './auth.service.js';

@ApiTags('Authentication')
@Controller('auth/2fa')
export class SecondFactorController {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly auth: AuthService,
  ) {}

  /** A fresh seed for an authenticator app. Nothing changes until `verify` gets its first code. Answers 409001 when it is on already. */
  @Post('setup')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Audited('auth.2fa_setup')
  setup(@Me() me: Caller): Promise<TotpSetup> {
    return this.secondFactor.setup(me);
  }

  /** Turns the second factor on with a first code. Answers 401001 for a wrong code. */
  @Post('verify')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Audited('auth.2fa_enable')
  async verify(@Body() { code }: CodeInput, @Me() me: Caller): Promise<RecoveryCodes> {
    return { recovery_codes: await this.secondFactor.enable(code, me) };
  }

  /** Turns the second factor off. Needs the password and a code; wrong ones are 401001 and count as failed logins. */
  @Post('disable')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Audited('auth.2fa_disable')
  disable(@Body() { password, code }: DisableInput, @Me() me: Caller): Promise<void> {
    return this.auth.disableSecondFactor(password, code, me);
  }
}
