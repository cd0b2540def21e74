import { useTranslation } from 'react-i18next';
import { RoleGate } from '~/components/role-gate';
import { Screen } from '~/components/screen';
import { Role } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { JobList } from './job-list';
import { JobScreen } from './job-screen';

/** What the installation does by itself; `?job=7` shows one of it. */
export function JobsScreen() {
  const { t } = useTranslation('jobs');
  const [{ job }] = useUrlState({ job: '' });
  if (job) return <JobScreen key={job} id={Number(job)} />;
  return (
    <Screen title={t('title')} about={t('about')}>
      <RoleGate role={Role.Super}>
        <JobList />
      </RoleGate>
    </Screen>
  );
}
