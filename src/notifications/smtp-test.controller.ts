import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { SmtpTestInput, SmtpTestResult } from './smtp-test.dto.js';
import { SmtpTest } from './smtp-test.service.js';

@ApiTags('Settings')
@Controller('settings/smtp')
export class SmtpTestController {
  constructor(private readonly mail: SmtpTest) {}

  /**
   * Sends a test mail through the stored mail server, also while mail is off, and tells in plain words how it went.
   * Takes ten seconds at most.
   */
  @Post('test')
  @HttpCode(200)
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.smtp_test')
  test(@Body() body: SmtpTestInput, @Me() me: Caller): Promise<SmtpTestResult> {
    return this.mail.send(body, me);
  }
}
