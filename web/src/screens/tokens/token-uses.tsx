import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { Row, Rows } from '~/components/rows';
import { Loaded } from '~/components/state-block';
import classes from './tokens.module.css';

const DAYS = 90;
const DAY_MS = 86_400_000;
const NETWORKS = 5;

const sums = (entries: [string, number][]) => {
  const all = new Map<string, number>();
  for (const [key, count] of entries) all.set(key, (all.get(key) ?? 0) + count);
  return all;
};

/** How often a token was used, a bar a day (of UTC), and from where. */
export function TokenUses({ id }: { id: number }) {
  const { t, i18n } = useTranslation('tokens');
  const uses = $api.useQuery('get', '/api/tokens/{id}/uses', { params: { path: { id } } });
  const day = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' });
  return (
    <Loaded query={uses} lines={3}>
      {(list) => {
        if (list.length === 0)
          return (
            <Text fz="sm" c="dimmed">
              {t('uses.none')}
            </Text>
          );
        const byDay = sums(list.map(({ day, count }) => [day, count]));
        const networks = [...sums(list.map(({ network, count }) => [network, count]))].toSorted((a, b) => b[1] - a[1]);
        const most = Math.max(...byDay.values());
        const total = [...byDay.values()].reduce((sum, count) => sum + count, 0);
        const days = Array.from({ length: DAYS }, (_, i) =>
          new Date(Date.now() - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10),
        );
        return (
          <>
            <div className={classes.bars} role="img" aria-label={t('uses.chart', { count: total, most })}>
              {days.map((key) => {
                const count = byDay.get(key) ?? 0;
                const height = count ? `${Math.max(6, (100 * count) / most)}%` : '0';
                return <span key={key} style={{ height }} title={`${day.format(Date.parse(key))}: ${count}`} />;
              })}
            </div>
            <Text fz="xs" c="dimmed" mt={4} mb="sm">
              {t('uses.chart', { count: total, most })}
            </Text>
            <Rows label={t('uses.networks')}>
              {networks.slice(0, NETWORKS).map(([network, count]) => (
                <Row key={network} actions={<Text fz="sm">{t('uses.times', { count })}</Text>}>
                  <span className="zw-mono">{network}</span>
                </Row>
              ))}
            </Rows>
          </>
        );
      }}
    </Loaded>
  );
}
