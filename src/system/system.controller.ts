import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { LoginsService } from './logins.service.js';
import { PauseService } from './pause.service.js';
import { StatusService } from './status.service.js';
import { DatabaseStatus, LoginStats, Resumed, SystemStatus, UnlockInput, UnlockResult } from './system.dto.js';

@ApiTags('System')
@Controller('system')
export class SystemController {
  constructor(
    private readonly logins: LoginsService,
    private readonly system: StatusService,
    private readonly pauses: PauseService,
  ) {}

  /** The process that answers, and its database. */
  @Get('status')
  @Access({ role: Role.Super })
  status(): Promise<SystemStatus> {
    return this.system.status();
  }

  /** The database: how large it is, how fast it answers, and the rows of each table. They are counted for this. */
  @Get('database')
  @Access({ role: Role.Super })
  database(): Promise<DatabaseStatus> {
    return this.system.database();
  }

  /**
   * Lets a database that was restored or copied work: jobs run, and providers are written to. Its original must not do
   * the same any more. 409001 when it is not paused.
   */
  @Post('resume')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('system.resume')
  resume(@Me() me: Caller): Promise<Resumed> {
    return this.pauses.resume(me);
  }

  /**
   * Logins and failures of the last 24 hours and 30 days, names that are locked now, and the networks with the most
   * failures.
   */
  @Get('login-stats')
  @Access({ role: Role.Super })
  loginStats(): Promise<LoginStats> {
    return this.logins.stats();
  }

  /** Takes all locks of a login name away. Answers 404001 when nothing is locked. */
  @Post('unlock-account')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Fails('notFound')
  @Audited('auth.unlock')
  async unlock(@Body() { username }: UnlockInput, @Me() me: Caller): Promise<UnlockResult> {
    return { unlocked: await this.logins.unlock(username, me) };
  }
}
