import { Body, Controller, Headers, HttpCode, Inject, Post, Res, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Fails } from '../common/access.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { CheckerGuard } from './checker.guard.js';
import { ChecksInput, ChecksResult } from './checks.dto.js';
import { SIGNATURE, sign, TIMESTAMP } from './signature.js';
import { Votes } from './votes.service.js';

@ApiTags('Failover')
@Controller('checks')
export class ChecksController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly votes: Votes,
  ) {}

  /**
   * Checks targets for another node of `CHECKERS`. The request is signed with `CHECKER_SECRET`, and so is the answer;
   * 401001 for a wrong, old or repeated signature, 404001 where the secret is not set.
   */
  @Post()
  @HttpCode(200)
  @Access({ public: true })
  @UseGuards(CheckerGuard)
  @Fails('unauthenticated', 'notFound')
  @ApiHeader({ name: TIMESTAMP, required: true, description: 'ms since 1970, at most a minute away' })
  @ApiHeader({ name: SIGNATURE, required: true, description: 'HMAC-SHA-256 of `<timestamp>.<body>`, hexadecimal' })
  async check(
    @Body() { checks }: ChecksInput,
    @Headers(SIGNATURE) signature: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChecksResult> {
    const votes = await Promise.all(checks.map((one) => this.votes.own(one, null)));
    response.setHeader(SIGNATURE, sign(this.config.checkerSecret ?? '', signature, JSON.stringify(votes)));
    return { votes };
  }
}
