import { createFileRoute } from '@tanstack/react-router';
import { words } from '~/i18n';
import { JobsScreen } from '~/screens/jobs/jobs-screen';

export const Route = createFileRoute('/_app/jobs')({ component: JobsScreen, loader: words('jobs') });
