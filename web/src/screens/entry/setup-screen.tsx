import '@mantine/core/styles.layer.css';
import { Button, Group, Stepper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { queryClient } from '~/api/query';
import { Loaded } from '~/components/state-block';
import { signInByPassword } from '~/session/sign-in';
import { AdminStep } from './admin-step';
import { DatabaseStep } from './database-step';
import { EntryFrame } from './entry-frame';

/** The first start: where the data is kept, who administrates. Ends signed in, at the overview. */
export function SetupScreen() {
  const { t } = useTranslation('entry');
  const router = useRouter();
  const navigate = useNavigate();
  const status = useQuery({
    queryKey: ['get', '/api/init/status', {}],
    queryFn: async () => (await quietClient.GET('/api/init/status')).data as NonNullable<unknown> & Status,
  });
  const goOn = async (username: string, password: string) => {
    await signInByPassword(username, password);
    queryClient.clear();
    await router.invalidate();
    await navigate({ to: '/', replace: true });
  };
  return (
    <EntryFrame title={t('setup.title')} text={t('setup.text')} wide>
      <Loaded query={status} lines={4}>
        {({ initialized, dbInitialized }) =>
          initialized ? (
            <>
              <Text fz="sm">{t('setup.done')}</Text>
              <Group justify="flex-end" mt="md">
                <Button onClick={() => void navigate({ to: '/sign-in' })}>{t('setup.toSignIn')}</Button>
              </Group>
            </>
          ) : (
            <Stepper active={dbInitialized ? 1 : 0} size="xs" allowNextStepsSelect={false}>
              <Stepper.Step label={t('setup.database')} allowStepSelect={false}>
                <DatabaseStep onDone={() => void status.refetch()} />
              </Stepper.Step>
              <Stepper.Step label={t('setup.administrator')} allowStepSelect={false}>
                <AdminStep onDone={goOn} />
              </Stepper.Step>
            </Stepper>
          )
        }
      </Loaded>
    </EntryFrame>
  );
}

interface Status {
  initialized: boolean;
  dbInitialized: boolean;
}
