import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { AdminInput, DatabaseInput, Done, InitStatus, TestResult } from './init.dto.js';
import { InitService } from './init.service.js';

@ApiTags('Initialisation')
@Access({ public: true, beforeSetup: true })
@Controller('init')
export class InitController {
  constructor(private readonly init: InitService) {}

  /** How far the installation is. 503001 while a configured database is down. */
  @Get('status')
  @Fails('notReady')
  status(): Promise<InitStatus> {
    return this.init.status();
  }

  /**
   * Tries a database with a temporary connection; creates nothing. A connection that fails is `success: false`, with
   * the reason in plain words; 403001 after the setup, 429001 after ten wrong setup codes.
   */
  @Post('test-db')
  @HttpCode(200)
  @Fails('forbidden', 'tooMany', 'notReady')
  test(@Body() body: DatabaseInput, @Me() me: Caller): Promise<TestResult> {
    return this.init.test(body, me);
  }

  /**
   * Chooses the database and creates or migrates its schema; existing data is kept. 409001 when `DATABASE_URL` presets
   * it, 403001 after the setup.
   */
  @Post('database')
  @HttpCode(200)
  @Fails('forbidden', 'conflict', 'notReady')
  @Audited('init.database')
  database(@Body() body: DatabaseInput, @Me() me: Caller): Promise<Done> {
    return this.init.choose(body, me);
  }

  /** Creates the first super administrator. 403001 when any user exists. */
  @Post('admin')
  @HttpCode(200)
  @Fails('forbidden', 'notReady')
  @Audited('init.admin')
  admin(@Body() body: AdminInput, @Me() me: Caller): Promise<Done> {
    return this.init.admin(body, me);
  }
}
