import { Global, Module } from '@nestjs/common';
import { SectionSecrets } from './section-secrets.js';
import { SettingsController } from './settings.controller.js';
import { SettingsService } from './settings.service.js';
import { SettingsRows } from './settings-rows.js';
import { SigningSecrets } from './signing-secrets.js';

/** Serves all contexts. */
@Global()
@Module({
  controllers: [SettingsController],
  providers: [SettingsService, SettingsRows, SectionSecrets, SigningSecrets],
  exports: [SettingsService, SigningSecrets],
})
export class SettingsModule {}
