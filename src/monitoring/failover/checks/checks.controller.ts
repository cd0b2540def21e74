import { Body, Controller, Headers, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../../access/access.js';
import { CheckerGuard } from './checker.guard.js';
import { Checker } from './checker.service.js';
import { ChecksInput, ChecksResult } from './checks.dto.js';
import { NODE, SIGNATURE, TIMESTAMP } from './signature.js';

@ApiTags('Failover')
@Controller('checks')
export class ChecksController {
  constructor(private readonly checker: Checker) {}

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
    @Headers(SIGNATURE) asked: string,
    @Me() { ip }: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChecksResult> {
    const { votes, signature } = await this.checker.answer(checks, asked, ip);
    response.setHeader(SIGNATURE, signature);
    return { votes };
  }
}
