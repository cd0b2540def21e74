import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { AuditScreen } from '~/screens/audit/audit-screen';

export const Route = createFileRoute('/_app/audit')({ component: AuditScreen, loader: words('audit') });
