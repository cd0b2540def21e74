import { Global, Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { AuditReader } from './audit-reader.service.js';
import { StrangersLog } from './strangers-log.service.js';

/** Serves all contexts. */
@Global()
@Module({
  controllers: [AuditController],
  providers: [AuditService, AuditReader, StrangersLog],
  exports: [AuditService, AuditReader, StrangersLog],
})
export class AuditModule {}
