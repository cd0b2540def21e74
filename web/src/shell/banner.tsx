import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import { noteReachable, useReachable } from '~/api/reachable';
import classes from './shell.module.css';

const AGAIN_MS = 2000;

/** Tells that the service cannot be reached, and looks for it until it can. */
export function Banner() {
  const { t } = useTranslation('shell');
  const reachable = useReachable();
  useQuery({
    queryKey: ['reachable'],
    enabled: !reachable,
    refetchInterval: AGAIN_MS,
    retry: false,
    gcTime: 0,
    networkMode: 'always',
    queryFn: async () => {
      const response = await fetch(`${BASE}/health/ready`, { cache: 'no-store' });
      if (response.ok) noteReachable();
      return response.ok;
    },
  });
  return (
    <div role="status" className={classes.bannerPlace}>
      {!reachable && <div className={classes.banner}>{t('unreachable')}</div>}
    </div>
  );
}
