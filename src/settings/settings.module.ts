import { Global, Module } from '@nestjs/common';
import { DocumentStore } from './document-store.js';
import { SectionSecrets } from './section-secrets.js';
import { SettingsController } from './settings.controller.js';
import { SettingsRepository } from './settings.repository.js';
import { SettingsService } from './settings.service.js';
import { SigningSecrets } from './signing-secrets.js';

/** Serves all contexts. */
@Global()
@Module({
  controllers: [SettingsController],
  providers: [SettingsRepository, DocumentStore, SettingsService, SectionSecrets, SigningSecrets],
  exports: [SettingsService, SigningSecrets],
})
export class SettingsModule {}
