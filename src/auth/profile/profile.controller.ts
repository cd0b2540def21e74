import { Body, Controller, Get, HttpCode, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { EmailCodeInput, ProfileInput, ProfileView } from './profile.dto.js';
import { ProfileService } from './profile.service.js';

@ApiTags('Security')
@Controller('security')
@Access({ noTokens: true })
export class ProfileController {
  constructor(private readonly profile: ProfileService) {}

  /** One's own profile. */
  @Get('profile')
  get(@Me() me: Caller): Promise<ProfileView> {
    return this.profile.get(me);
  }

  /**
   * Changes one's own profile. Fields that are left out stay. Another e-mail address needs the code that was mailed to
   * it; 409001 when somebody has it.
   */
  @Put('profile')
  @Fails('conflict')
  @Audited('profile.update')
  update(@Body() body: ProfileInput, @Me() me: Caller): Promise<ProfileView> {
    return this.profile.update(body, me);
  }

  /**
   * Mails a code of six digits to an address: valid for 10 minutes and 5 tries, the newest only. Answers 501001 when no
   * mail server is set up.
   */
  @Post('email-code')
  @HttpCode(200)
  @Fails('unsupported')
  @Audited('profile.email_code')
  async emailCode(@Body() { email }: EmailCodeInput, @Me() me: Caller): Promise<void> {
    await this.profile.sendCode(email, me);
  }
}
