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

/** What is set of a domain, without what each reading of its zone changes. */
function settingsOf(domain: DomainDetail): string {
  const { remark, expires_at, watch_certificates, certificate_port, guards, ttl_floor, require_if_match } = domain;
  const { approval, freeze, windows, drift } = domain;
  const plain = [remark, expires_at, watch_certificates, certificate_port, guards, ttl_floor, require_if_match];
  return JSON.stringify([...plain, approval, freeze, windows, drift]);
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
  const [isOvertaken, setOvertaken] = useState(false);
  const { data, error, refetch } = query;
  const seen = mine ?? data;
  if (data && !mine) setMine(data);
  const base: Base | undefined = seen && {
    ...seen,
    generation,
    isOld: isOvertaken || Boolean(data && settingsOf(data.domain) !== settingsOf(seen.domain)),
    renew: () => {
      void refetch().then(({ data: fresh }) => {
        if (fresh) setMine(fresh);
        setOvertaken(false);
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
        setOvertaken(true);
        await refetch();
        throw new ApiError(error.status, error.code, t('settings.overtaken'), {}, error.requestId);
      }
    },
  };
  return { data: base, error, refetch };
}
