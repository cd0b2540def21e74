import { createRootRoute, Outlet } from '@tanstack/react-router';
import { NotFound } from '~/shell/failures';

export const Route = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
