import { createFileRoute } from '@tanstack/react-router';
import { NotFound } from '~/shell/failures';

export const Route = createFileRoute('/_app/$')({ component: NotFound });
