import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import type { DomainDetail } from '../domains';

export type Patch = components['schemas']['DomainPatch'];

interface Seen {
  domain: DomainDetail;
  etag: string | null;
}

/** A domain as its settings were read, for forms that write only over what was seen. */
export interface Base extends Seen {
  /** sends some settings; 412 where somebody has changed any meanwhile */
  save: (patch: Patch) => Promise<void>;
  /** whether others have changed it since */
  isOld: boolean;
  /** takes what is there now, in place of what was typed */
  renew: () => void;
  /** changes when all is taken anew: the key of the forms */
  generation: number;
}

async function read(id: number, signal?: AbortSignal): Promise<Seen> {
  const path = { domain_id: String(id) };
  const { data, response } = await client.GET('/api/domains/{domain_id}', {
    params: { path },
    ...(signal && { signal }),
  });
  return { domain: data as DomainDetail, etag: response.headers.get('etag') };
}

/** The settings of a domain: what is typed stays, whatever is read anew behind it. */
export function useBase(id: number) {
  const { t } = useTranslation('domains');
  const query = useQuery({
    queryKey: ['get', '/api/domains/{domain_id}', { path: { domain_id: String(id) } }, 'settings'],
    queryFn: ({ signal }) => read(id, signal),
  });
  const [mine, setMine] = useState<Seen | null>(null);
  const [generation, setGeneration] = useState(0);
  const { data, error, refetch } = query;
  const seen = mine ?? data;
  if (data && !mine) setMine(data);
  const base: Base | undefined = seen && {
    ...seen,
    generation,
    isOld: Boolean(data && data.etag !== seen.etag && mine),
    renew: () => {
      void refetch().then(({ data: fresh }) => {
        if (fresh) setMine(fresh);
        setGeneration((before) => before + 1);
      });
    },
    save: async (patch) => {
      const params = { path: { domain_id: String(id) }, ...(seen.etag && { header: { 'If-Match': seen.etag } }) };
      try {
        const { data: saved, response } = await client.PUT('/api/domains/{domain_id}', { params, body: patch });
        setMine({ domain: saved as DomainDetail, etag: response.headers.get('etag') });
        await invalidate('/api/domains', '/api/dashboard');
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        // what is there now is read, and offered
        await refetch();
        throw new ApiError(error.status, error.code, t('settings.overtaken'), {}, error.requestId);
      }
    },
  };
  return { data: base, error, refetch };
}
