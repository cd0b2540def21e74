import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import { ConfirmDestructive } from '~/components/confirm';
import { ErrorText } from '~/components/error-text';
import { Row, Rows } from '~/components/rows';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { browserOf } from './browser-of';

/** Where one is signed in; each can be ended from here. */
export function SessionsSection() {
  const { t } = useTranslation('profile');
  const sessions = $api.useQuery('get', '/api/auth/sessions');
  const [problem, setProblem] = useState<unknown>(null);
  const [isEndingAll, setEndingAll] = useState(false);
  const others = sessions.data?.filter(({ current }) => !current).length ?? 0;
  const end = async (id: number) => {
    setProblem(null);
    await client.DELETE('/api/auth/sessions/{id}', { params: { path: { id } } }).catch(setProblem);
    await invalidate('/api/auth/sessions');
  };
  return (
    <Section
      title={t('sessions.title')}
      actions={
        others > 0 && (
          <Button variant="default" onClick={() => setEndingAll(true)}>
            {t('sessions.endOthers')}
          </Button>
        )
      }
    >
      <ErrorText error={problem} />
      <Loaded query={sessions} lines={3}>
        {(list) => (
          <Rows label={t('sessions.title')}>
            {list.map(({ id, current, user_agent, ip, method, amr, created_at, last_active_at, expires_at }) => (
              <Row
                key={id}
                more={
                  <>
                    {t(`sessions.by.${method}`)}
                    {amr.some((way) => way !== method) &&
                      ` + ${amr
                        .filter((way) => way !== method)
                        .map((way) => t(`sessions.by.${way}`))
                        .join(', ')}`}{' '}
                    · {t('sessions.began')} <Time iso={created_at} /> · {t('sessions.active')}{' '}
                    <Time iso={last_active_at} /> · {t('sessions.ends')} <Time iso={expires_at} />
                  </>
                }
                actions={
                  current ? (
                    <Status is="good">{t('sessions.current')}</Status>
                  ) : (
                    <Button
                      variant="subtle"
                      aria-label={t('sessions.endOne', { browser: browserOf(user_agent), ip })}
                      onClick={() => void end(id)}
                    >
                      {t('sessions.end')}
                    </Button>
                  )
                }
              >
                <span title={user_agent}>{browserOf(user_agent) || t('sessions.unknown')}</span>{' '}
                <span className="zw-mono">{ip}</span>
              </Row>
            ))}
          </Rows>
        )}
      </Loaded>
      <ConfirmDestructive
        opened={isEndingAll}
        onClose={() => setEndingAll(false)}
        title={t('sessions.endOthersTitle', { count: others })}
        verb={t('sessions.endOthers')}
        onConfirm={async () => {
          await client.DELETE('/api/auth/sessions/others');
          await invalidate('/api/auth/sessions');
        }}
      >
        {t('sessions.endOthersText')}
      </ConfirmDestructive>
    </Section>
  );
}
