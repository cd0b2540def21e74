import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Audited, type Caller, Me } from '../common/access.js';
import { LoginInput, LoginResult, UserView } from './auth.dto.js';
import { AuthService } from './auth.service.js';

@ApiTags('Authentication')
@Controller('auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  /** Password login. Answers 401001 for a wrong name or password, 423001 while locked, 429001 over the rate limit (20 a minute and network). */
  @Post('login')
  @HttpCode(200)
  @Access({ public: true })
  @Audited('auth.login_failed')
  login(@Body() body: LoginInput, @Me() me: Caller): Promise<LoginResult> {
    return this.auth.login(body, me);
  }

  /** The signed-in user; for an API token its creator, with the token's effective role. */
  @Get('me')
  @Access({})
  me(@Me() me: Caller): Promise<UserView> {
    return this.auth.me(me);
  }

  /** Ends this session. */
  @Post('logout')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Audited('auth.logout')
  logout(@Me() me: Caller): Promise<void> {
    return this.auth.logout(me);
  }
}
