import { Body, Controller, Headers, HttpCode, Inject, Post, Res, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me } from '../common/access.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { CheckerGuard } from './checker.guard.js';
import { ChecksInput, ChecksResult } from './checks.dto.js';
import { NODE, SIGNATURE, sign, TIMESTAMP } from './signature.js';
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
   * 401001 for a wrong, old or repeated signature, or a question for another node, 404001 where the secret is not set.
   */
  @Post()
  @HttpCode(200)
  @Access({ public: true })
  @UseGuards(CheckerGuard)
  @Fails('unauthenticated', 'notFound')
  @ApiHeader({ name: TIMESTAMP, required: true, description: 'ms since 1970, at most a minute away' })
  @ApiHeader({
    name: SIGNATURE,
    required: true,
    description: 'HMAC-SHA-256 of `<timestamp>.<node>.<body>`, hexadecimal',
  })
  @ApiHeader({
    name: NODE,
    required: true,
    description: 'the node that it is for: a refusal of another one tells its own',
  })
  async check(
    @Body() { checks }: ChecksInput,
    @Headers(SIGNATURE) signature: string,
    @Me() { ip }: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChecksResult> {
    const votes = await Promise.all(checks.map((one) => this.votes.ofNode(one, ip)));
    response.setHeader(SIGNATURE, sign(this.config.checkerSecret ?? '', signature, JSON.stringify(votes)));
    return { votes };
  }
}
