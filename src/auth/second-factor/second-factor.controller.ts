import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { FreshnessService } from './freshness.service.js';
import { CodeInput, DisableInput, Proof, RecoveryCodes, TotpSetup } from './second-factor.dto.js';
import { SecondFactorService } from './second-factor.service.js';

@ApiTags('Authentication')
@Controller('auth/2fa')
export class SecondFactorController {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly freshness: FreshnessService,
  ) {}

  /**
   * A fresh seed for an authenticator app. Nothing changes until `verify` gets its first code. A session that began
   * more than five minutes ago needs `password` (403001 without, 401001 for a wrong one, 423001 after too many).
   * Answers 409001 when it is on already.
   */
  @Post('setup')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Fails('conflict', 'locked')
  @Audited('auth.2fa_setup')
  async setup(@Body() body: Proof, @Me() me: Caller): Promise<TotpSetup> {
    await this.freshness.assertOwner(me, body);
    return this.secondFactor.setup(me);
  }

  /**
   * Turns the second factor on with a first code. The session counts as having shown it. Answers 401001 for a wrong
   * code, 409001 when no seed waits for it.
   */
  @Post('verify')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Fails('conflict')
  @Audited('auth.2fa_enable')
  async verify(@Body() { code }: CodeInput, @Me() me: Caller): Promise<RecoveryCodes> {
    return { recovery_codes: await this.secondFactor.enable(code, me) };
  }

  /**
   * Turns the second factor off. Needs the password and a code; wrong ones are 401001 and count as failed logins
   * (423001 after too many); 409001 when it is off. No session counts as having shown it any more: where the role must
   * show one, all of them reach only what sets one up.
   */
  @Post('disable')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Fails('conflict', 'locked')
  @Audited('auth.2fa_disable')
  disable(@Body() { password, code }: DisableInput, @Me() me: Caller): Promise<void> {
    return this.secondFactor.turnOff(password, code, me);
  }
}
