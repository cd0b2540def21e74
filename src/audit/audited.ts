import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { AUDITED } from '../access/access.js';
import { AuditInterceptor } from './audit.interceptor.js';

/** Names the audit action of a changing route, `<noun>.<verb>`; the entry is written on success and on failure. */
export const Audited = (action: string) =>
  applyDecorators(SetMetadata(AUDITED, action), UseInterceptors(AuditInterceptor));
