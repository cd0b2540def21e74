import { createFileRoute } from '@tanstack/react-router';
import { AuditScreen } from '~/screens/audit/audit-screen';

export const Route = createFileRoute('/_app/audit')({ component: AuditScreen });
