import { Module } from '@nestjs/common';
import { UsersModule } from '../../users/users.module.js';
import { OauthModule } from '../oauth/oauth.module.js';
import { PasswordModule } from '../password/password.module.js';
import { SecondFactorModule } from '../second-factor/second-factor.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AuthController } from './auth.controller.js';
import { LoginService } from './login.service.js';

@Module({
  imports: [UsersModule, SessionsModule, PasswordModule, SecondFactorModule, OauthModule],
  controllers: [AuthController],
  providers: [LoginService],
  exports: [LoginService],
})
export class LoginModule {}
