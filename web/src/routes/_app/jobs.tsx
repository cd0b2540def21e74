import { createFileRoute } from '@tanstack/react-router';
import { JobsScreen } from '~/screens/jobs/jobs-screen';

export const Route = createFileRoute('/_app/jobs')({ component: JobsScreen });
