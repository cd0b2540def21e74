import { designate } from '../../../src/providers/designate/declaration.js';
import type { Asked, Course, ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';
import { setup as family, held } from '../huaweicloud/replay.js';

const isToken = ({ path }: Asked): boolean => path.endsWith('/auth/tokens');

/** Recorded 2023 of another cloud of the family, whose API began as Designate's. */
export const setup: ReplaySetup = {
  ...family,
  definition: designate,
  credentials: (endpoint) => ({
    ...{ auth_url: endpoint, endpoint },
    ...{ application_credential_id: 'an-id', application_credential_secret: 'a-secret-for-the-tests' },
  }),
  reads: (asked) => asked.method === 'GET' || isToken(asked),
};

/** Keystone, which the recorded client asked for nothing. */
export const token = (asked: Asked): Answer | undefined =>
  isToken(asked)
    ? {
        ...{ status: 201, headers: { 'x-subject-token': 'a-token-for-the-tests' } },
        body: { token: { expires_at: new Date(Date.now() + 3_600_000).toISOString() } },
      }
    : undefined;

/** A write of a part of a set, with the rest as it was answered last. */
export function whole(asked: Asked, whose: 'recorded' | 'own', { known }: Course): Asked {
  if (whose === 'recorded' || asked.method !== 'PUT') return asked;
  const was = [...held(known).values()].find(({ id }) => asked.path.endsWith(`/${id}`));
  const { name, type, ttl } = was ?? {};
  return { ...asked, body: { name, type, ttl, ...(asked.body as object) } };
}
