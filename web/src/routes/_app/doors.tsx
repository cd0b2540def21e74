import { createFileRoute } from '@tanstack/react-router';
import { DoorsScreen } from '~/screens/doors/doors-screen';

export const Route = createFileRoute('/_app/doors')({ component: DoorsScreen });
