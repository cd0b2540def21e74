import { Button } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { useEvent } from '~/api/events';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { RoleGate } from '~/components/role-gate';
import { Facts } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { AboutProvider, Capabilities } from './about-provider';
import { AccountNotices } from './account-notices';
import { AccountStatus } from './account-status';
import classes from './accounts.module.css';
import { CredentialsForm } from './credentials-form';
import { DeleteAccount } from './delete-account';
import { type Account, useProviders } from './providers';
import { SettingsForm } from './settings-form';
import { SyncOutcome, SyncProgress } from './sync-progress';

type SyncResult = components['schemas']['SyncResult'];

/** seconds that the answer waits, so that a quick failure says what to do */
const WAIT_S = 1;

export function AccountScreen() {
  const { t } = useTranslation('accounts');
  const id = Number((useParams({ strict: false }) as { accountId?: string }).accountId);
  const mayRead = useMay(Role.Admin);
  const account = $api.useQuery('get', '/api/accounts/{id}', { params: { path: { id } } }, { enabled: mayRead });
  const sync = useSync(id);
  return (
    <Screen
      title={account.data?.name ?? t('account.title')}
      crumbs={[{ label: t('title'), to: '/accounts' }]}
      {...(account.data && {
        actions: (
          <Button onClick={() => sync.begin(false)} loading={sync.busy}>
            {t('sync.verb')}
          </Button>
        ),
      })}
    >
      <RoleGate role={Role.Admin}>
        <Loaded query={account}>{(data) => <Details account={data} sync={sync} />}</Loaded>
      </RoleGate>
    </Screen>
  );
}

interface Sync {
  busy: boolean;
  /** null: none goes on as far as this page knows */
  job: number | null;
  result: SyncResult | null;
  problem: unknown;
  begin: (confirm: boolean) => void;
  ended: () => void;
}

/** The synchronisation of an account; the job that goes on stands in the address. */
function useSync(id: number): Sync {
  const [{ job }, set] = useUrlState({ job: '' });
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<SyncResult | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const ended = () => void invalidate('/api/accounts', '/api/domains', '/api/dashboard');
  useEvent('job.started', ({ job_id, subject }) => {
    if (subject === `account.sync|${id}`) set({ job: String(job_id) });
  });
  const begin = async (confirm: boolean) => {
    setBusy(true);
    setResult(null);
    setProblem(null);
    try {
      const params = { path: { id }, query: { wait: WAIT_S, ...(confirm && { confirm }) } };
      const { data } = await client.POST('/api/accounts/{id}/sync', { params });
      if (data && 'job_id' in data) set({ job: String(data.job_id) });
      else setResult((data as SyncResult | undefined) ?? null);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
      ended();
    }
  };
  return { busy, job: Number(job) || null, result, problem, begin: (confirm) => void begin(confirm), ended };
}

function Details({ account, sync }: { account: Account; sync: Sync }) {
  const { t } = useTranslation('accounts');
  const providers = useProviders();
  const { id, provider: kind, domains_count, last_sync_at, created_at } = account;
  const provider = providers.data?.find((one) => one.kind === kind);
  return (
    <div className={classes.columns}>
      <div>
        <AccountNotices account={account} />
        <SyncState sync={sync} />
        <Facts
          of={[
            [t('field.state'), <AccountStatus key="state" account={account} />],
            [
              t('field.domains'),
              <AppLink key="domains" to="/domains" search={{ account_id: String(id) }} fz="sm">
                {t('domains', { count: domains_count })}
              </AppLink>,
            ],
            [t('field.lastSync'), <Time key="sync" iso={last_sync_at} />],
            [t('field.created'), <Time key="created" iso={created_at} />],
          ]}
        />
        <Section title={t('settings.title')}>
          <SettingsForm key={account.id} account={account} />
        </Section>
        <Section title={t('credentials.title')}>
          <Loaded query={providers}>
            {() => (provider ? <CredentialsForm account={account} provider={provider} /> : null)}
          </Loaded>
        </Section>
        <Section title={t('delete.section')}>
          <DeleteAccount account={account} />
        </Section>
      </div>
      {provider && (
        <aside className={classes.aside} aria-label={provider.label}>
          <b>{provider.label}</b>
          <Capabilities provider={provider} />
          <AboutProvider provider={provider} />
        </aside>
      )}
    </div>
  );
}

/** How the synchronisation goes; a list that is suspiciously short is asked about. */
function SyncState({ sync: { job, result, problem, begin, ended } }: { sync: Sync }) {
  const { t } = useTranslation('accounts');
  const [asks, setAsks] = useState(false);
  const isShort = problem instanceof ApiError && problem.code === 409002;
  return (
    <>
      {problem ? (
        <div className="zw-notice" data-is="bad">
          <ErrorText error={problem} />
          {isShort && (
            <Button variant="default" mt={6} onClick={() => setAsks(true)}>
              {t('sync.accept')}
            </Button>
          )}
        </div>
      ) : result ? (
        <SyncOutcome result={result} />
      ) : (
        job !== null && <SyncProgress key={job} job={job} onEnd={ended} />
      )}
      <ConfirmDestructive
        opened={asks}
        onClose={() => setAsks(false)}
        title={t('sync.acceptTitle')}
        verb={t('sync.accept')}
        onConfirm={async () => begin(true)}
      >
        {t('sync.acceptText')} {isShort && (problem as ApiError).message}
      </ConfirmDestructive>
    </>
  );
}
