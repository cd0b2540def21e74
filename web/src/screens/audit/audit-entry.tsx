import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { Copy } from '~/components/copy';
import { differenceOf } from '~/components/difference';
import { Facts } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import classes from './audit.module.css';
import { Actor } from './audit-list';

/** One entry: who did what, and each field before and after. */
export function AuditEntry({ id }: { id: number }) {
  const { t } = useTranslation('audit');
  const entry = $api.useQuery('get', '/api/audit/logs/{id}', { params: { path: { id } } });
  return (
    <Screen title={entry.data?.action ?? t('entry')} crumbs={[{ label: t('title'), to: '/audit' }]}>
      <Loaded query={entry}>
        {(data) => (
          <>
            <Section title={t('entry')}>
              <Facts
                of={[
                  [t('time'), <Time key="time" iso={data.created_at} exact />],
                  [
                    t('who'),
                    data.actor.username ? (
                      <AppLink key="who" to="/audit" search={{ user: data.actor.username }} fz="sm">
                        <Actor actor={data.actor} />
                      </AppLink>
                    ) : (
                      <Actor key="who" actor={data.actor} />
                    ),
                  ],
                  [
                    t('result'),
                    <Status key="result" is={data.result === 'ok' ? 'good' : 'bad'}>
                      {t(`results.${data.result}`)}
                    </Status>,
                  ],
                  [t('error'), data.error],
                  [t('target'), data.target && [data.target.type, data.target.name ?? data.target.id].join(' ')],
                  [
                    t('domain'),
                    data.domain &&
                      (data.domain_id ? (
                        <AppLink key="domain" to={`/domains/${data.domain_id}`} ff="monospace" fz="sm">
                          {data.domain}
                        </AppLink>
                      ) : (
                        data.domain
                      )),
                  ],
                  [t('ip'), data.ip && <span className="zw-mono">{data.ip}</span>],
                  [t('program'), data.user_agent],
                ]}
              />
            </Section>
            <Section title={t('difference')}>
              <Difference before={data.before} after={data.after} />
            </Section>
            <Section title={t('chain')}>
              <Facts
                of={[
                  [t('seq'), data.seq],
                  [t('hash'), <Hash key="hash" text={data.hash} />],
                  [t('prevHash'), data.prev_hash && <Hash text={data.prev_hash} />],
                  [t('request'), data.request_id && <Hash text={data.request_id} />],
                  [t('changeSet'), data.change_set_id],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function Hash({ text }: { text: string }) {
  return (
    <>
      <span className="zw-mono">{text}</span> <Copy text={text} />
    </>
  );
}

function Difference({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation('audit');
  const fields = differenceOf(before, after);
  if (fields.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        {t('noFields')}
      </Text>
    );
  return (
    <table className={classes.difference} aria-label={t('difference')}>
      <thead>
        <tr>
          <th scope="col">{t('field')}</th>
          <th scope="col">{t('before')}</th>
          <th scope="col">{t('after')}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ path, before, after }) => (
          <tr key={path} data-same={before === after || undefined}>
            <th scope="row">{path}</th>
            <td data-label={t('before')}>{before === null ? '–' : before === after ? before : <del>{before}</del>}</td>
            <td data-label={t('after')}>{after === null ? '–' : before === after ? after : <ins>{after}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
