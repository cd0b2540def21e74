import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { useDomainId } from '~/screens/domains/domain-frame';
import { makePlan, type Origin, type PlanInput, useMayWrite } from '~/screens/plans/plan';

export type Version = components['schemas']['VersionView'];

/** Makes a plan and opens it. */
export function usePlanning() {
  const domain = useDomainId();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isNothing, setNothing] = useState(false);
  const mayWrite = useMayWrite(domain);
  const plan = async (body: PlanInput, origin: Origin) => {
    setBusy(true);
    setError(null);
    setNothing(false);
    try {
      const made = await makePlan(domain, body);
      if (made.id === null) setNothing(true);
      else void navigate({ to: `/plans/${made.id}` as never, search: origin as never });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { plan, mayWrite, busy, error, isNothing };
}

/** What became of the records between two versions, as a unified diff. */
export async function diffText(domain: number, from: number, to: number): Promise<string> {
  const { data } = await client.GET('/api/domains/{domain_id}/versions/{version}/diff/{other}', {
    params: { path: { domain_id: String(domain), version: from, other: to } },
    headers: { Accept: 'text/plain' },
    parseAs: 'text',
  });
  return (data ?? '') as unknown as string;
}

/** The zone file of a version. */
export async function zoneFile(domain: number, version: number): Promise<string> {
  const { data } = await client.GET('/api/domains/{domain_id}/versions/{version}', {
    params: { path: { domain_id: String(domain), version } },
    headers: { Accept: 'text/dns' },
    parseAs: 'text',
  });
  return (data ?? '') as unknown as string;
}
