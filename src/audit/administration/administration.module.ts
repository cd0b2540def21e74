import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditLogService } from './audit-log.service.js';
import { AuditRuleStatesRepository } from './audit-rule-states.repository.js';
import { AuditJobs } from './jobs.service.js';
import { AuditRulesCheck } from './rules.service.js';

/** Its routes, and what goes on by itself: for the service only. */
@Module({
  controllers: [AuditController],
  providers: [AuditRuleStatesRepository, AuditLogService, AuditJobs, AuditRulesCheck],
})
export class AuditAdministrationModule {}
