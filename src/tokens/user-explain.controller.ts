import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Fails, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { IdPipe } from '../platform/common/validation.js';
import { ExplainService } from './explain.service.js';
import { ExplainInput, Explanation } from './token.dto.js';

@ApiTags('Users')
@Controller('users/:id/explain')
export class UserExplainController {
  constructor(private readonly explanations: ExplainService) {}

  /** Whether a user may do something with a record, and which grants there are. Nothing is done. */
  @Post()
  @HttpCode(200)
  @Access({ role: Role.Admin })
  @Fails('conflict')
  @Audited('user.explain')
  explain(@Param('id', IdPipe) id: number, @Body() body: ExplainInput): Promise<Explanation> {
    return this.explanations.ofUser(id, body);
  }
}
