import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditLogService } from './audit-log.service.js';
import { AuditRuleStatesRepository } from './audit-rule-states.repository.js';
import { AuditJobs } from './jobs.service.js';
import { AuditRulesCheck } from './rules.service.js';

/** The routes and jobs of the audit log: for the service only, not for administration commands. */
@Module({
  controllers: [AuditController],
  providers: [AuditRuleStatesRepository, AuditLogService, AuditJobs, AuditRulesCheck],
})
export class AuditAdministrationModule {}
