import { Module } from '@nestjs/common';
import { UsersModule } from '../../users/users.module.js';
import { SecondFactorModule } from '../second-factor/second-factor.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { PasskeyLoginService } from './passkey-login.service.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { PasskeysService } from './passkeys.service.js';
import { RelyingParty } from './relying-party.js';

@Module({
  imports: [UsersModule, SessionsModule, SecondFactorModule],
  controllers: [PasskeysController],
  providers: [PasskeysRepository, PasskeysService, PasskeyLoginService, RelyingParty],
  exports: [PasskeysService, RelyingParty],
})
export class PasskeysModule {}
