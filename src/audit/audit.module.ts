import { Global, Module } from '@nestjs/common';
import { AuditAcceptance } from './accept.service.js';
import { AuditService } from './audit.service.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditLogsRepository } from './audit-logs.repository.js';
import { AuditPendingRepository } from './audit-pending.repository.js';
import { AuditReader } from './audit-reader.service.js';
import { ChainEnds } from './chain-ends.service.js';
import { CheckpointFile } from './checkpoint-file.service.js';
import { FailedChanges } from './failed-changes.service.js';
import { AuditLinker } from './linker.service.js';
import { AuditPruner } from './pruner.service.js';
import { StrangersLog } from './strangers-log.service.js';
import { AuditVerifier } from './verifier.service.js';

const SERVICES = [
  AuditService,
  AuditReader,
  StrangersLog,
  FailedChanges,
  AuditLinker,
  AuditVerifier,
  AuditPruner,
  AuditAcceptance,
  CheckpointFile,
];

const REPOSITORIES = [AuditChainRepository, AuditLogsRepository, AuditPendingRepository];

/** Serves all contexts. */
@Global()
@Module({ providers: [...SERVICES, ...REPOSITORIES, ChainEnds], exports: SERVICES })
export class AuditModule {}
