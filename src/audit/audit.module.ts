import { Global, Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { AuditReader } from './audit-reader.service.js';

/** Serves all contexts. */
@Global()
@Module({
  controllers: [AuditController],
  providers: [AuditService, AuditReader],
  exports: [AuditService, AuditReader],
})
export class AuditModule {}
