import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { AUDITED } from '../access/access.js';
import type { AuditAction } from '../access/audit-actions.js';
import { AuditInterceptor } from './audit.interceptor.js';

/** Names the audit action of a changing route, `<noun>.<verb>`; the entry is written on success and on failure. */
export const Audited = (action: AuditAction) =>
  applyDecorators(SetMetadata(AUDITED, action), UseInterceptors(AuditInterceptor));
