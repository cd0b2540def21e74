import { createFileRoute, redirect } from '@tanstack/react-router';
import { ApiError, needsSetup } from '~/api/errors';
import { queryClient } from '~/api/query';
import { applyProfile, bootstrapOptions } from '~/session/session';
import { Shell } from '~/shell/shell';

let begun = false;

/** All that is for those who are signed in: others are led to the sign-in, or to the setup, and come back. */
export const Route = createFileRoute('/_app')({
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      const bootstrap = await queryClient.ensureQueryData(bootstrapOptions);
      if (begun) return;
      begun = true;
      await applyProfile(bootstrap);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (needsSetup(error)) throw redirect({ to: '/setup' });
      if (error.status === 401 || error.reason === 'second_factor_required')
        throw redirect({ to: '/sign-in', search: { back: location.href } as never });
      throw error;
    }
  },
});
