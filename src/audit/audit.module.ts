import { Global, Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { AuditReader } from './audit-reader.service.js';
import { FailedChanges } from './failed-changes.service.js';
import { StrangersLog } from './strangers-log.service.js';

/** Serves all contexts. */
@Global()
@Module({
  controllers: [AuditController],
  providers: [AuditService, AuditReader, StrangersLog, FailedChanges],
  exports: [AuditService, AuditReader, StrangersLog, FailedChanges],
})
export class AuditModule {}
