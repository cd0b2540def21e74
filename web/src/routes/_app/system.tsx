import { createFileRoute } from '@tanstack/react-router';
import { SystemScreen } from '~/screens/system/system-screen';

export const Route = createFileRoute('/_app/system')({ component: SystemScreen });
