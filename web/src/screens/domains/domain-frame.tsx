import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Screen } from '~/components/screen';
import { Failure, Loading, Stale } from '~/components/state-block';
import classes from './domain-frame.module.css';

type Domain = components['schemas']['DomainDetail'];

const TABS = ['records', 'history', 'plans', 'failover', 'health', 'settings'] as const;

/** The id of the domain in the address of the screen. */
export const useDomainId = (): number => Number((useParams({ strict: false }) as { domainId?: string }).domainId);

/** The domain of the address of the screen. */
export const useDomain = () =>
  $api.useQuery('get', '/api/domains/{domain_id}', { params: { path: { domain_id: String(useDomainId()) } } });

interface Props {
  actions?: ReactNode;
  /** one line below the name */
  about?: ReactNode;
  children: ReactNode | ((domain: Domain) => ReactNode);
}

/** The frame of the screens of one domain: its name, and the tabs. */
export function DomainFrame({ actions, about, children }: Props) {
  const { t } = useTranslation('domains');
  const id = useDomainId();
  const domain = useDomain();
  const { data } = domain;
  const tabs = (
    <nav aria-label={t('tabs.label')} className={classes.tabs}>
      {TABS.map((tab) => (
        <Link
          key={tab}
          to={(tab === 'records' ? `/domains/${id}` : `/domains/${id}/${tab}`) as never}
          className={classes.tab}
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {t(`tabs.${tab}`)}
        </Link>
      ))}
    </nav>
  );
  const title = data?.unicode_name ?? t('tabs.loading');
  return (
    <Screen
      title={title}
      isName={data !== undefined}
      crumbs={[{ label: t('title'), to: '/domains' }]}
      tabs={tabs}
      {...(actions !== undefined && { actions })}
      {...(about !== undefined && { about })}
    >
      {data === undefined ? (
        domain.error ? (
          <Failure error={domain.error} retry={domain.refetch} />
        ) : (
          <Loading />
        )
      ) : (
        <>
          {domain.error ? <Stale error={domain.error} retry={domain.refetch} /> : null}
          {typeof children === 'function' ? children(data) : children}
        </>
      )}
    </Screen>
  );
}
