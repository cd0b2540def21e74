import { useState } from 'react';
import { ApiError } from '~/api/errors';

/** Something that is refused at first: what it is refused for is told, and the second time it is meant. */
export function useForced(isRefusal: (error: ApiError) => boolean) {
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  return {
    refusal,
    /** the query of the API */
    query: refusal ? { force: true } : {},
    run: async (work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        if (error instanceof ApiError && isRefusal(error)) setRefusal(error);
        throw error;
      }
    },
    forget: () => setRefusal(null),
  };
}
