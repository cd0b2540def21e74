import '@mantine/charts/styles.layer.css';
import { BarChart } from '@mantine/charts';
import { useQueries } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Section } from '~/components/screen';
import { useBootstrap } from '~/session/session';
import classes from './overview.module.css';

type ProviderCounts = components['schemas']['ProviderCounts'];

const DAYS = 7;
const DAY_MS = 86_400_000;
const MOST = 8;
const ROW_PX = 26;
const STALE_MS = 60_000;

interface Props {
  providers: ProviderCounts[];
  mayReadChanges: boolean;
}

/** Two small charts: changes by day, and domains by provider. */
export default function Charts({ providers, mayReadChanges }: Props) {
  return (
    <>
      {mayReadChanges && <ChangesByDay />}
      <DomainsByProvider providers={providers} />
    </>
  );
}

/** The last days of the calendar of the installation, the oldest first. */
export function lastDays(now: number, timeZone: string, count = DAYS): string[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  return Array.from({ length: count }, (_, i) => format.format(now - (count - 1 - i) * DAY_MS));
}

function ChangesByDay() {
  const { t, i18n } = useTranslation('overview');
  const { timezone } = useBootstrap().settings;
  const days = lastDays(Date.now(), timezone);
  const counts = useQueries({
    queries: days.map((day) =>
      $api.queryOptions(
        'get',
        '/api/changes',
        { params: { query: { from: day, to: day, limit: 1 } } },
        { staleTime: STALE_MS },
      ),
    ),
  });
  const format = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const data = days.map((day, i) => ({ day: format.format(new Date(day)), count: counts[i]?.data?.total ?? 0 }));
  const total = data.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section title={t('chart.changes')}>
      <figure className={classes.chart} aria-label={t('chart.changesText', { count: total })}>
        <BarChart
          h={130}
          data={data}
          dataKey="day"
          series={[{ name: 'count', label: t('chart.lists'), color: 'petrol.6' }]}
          gridAxis="x"
          tickLine="none"
          maxBarWidth={28}
          yAxisProps={{ width: 32, allowDecimals: false }}
          barProps={{ isAnimationActive: false }}
          barChartProps={{ accessibilityLayer: false }}
        />
      </figure>
    </Section>
  );
}

function DomainsByProvider({ providers }: { providers: ProviderCounts[] }) {
  const { t } = useTranslation('overview');
  const { data: kinds } = $api.useQuery('get', '/api/providers', {}, { staleTime: Number.POSITIVE_INFINITY });
  const labelOf = (kind: string) => kinds?.find((one) => one.kind === kind)?.label ?? kind;
  const most = providers.filter(({ domains }) => domains > 0).toSorted((a, b) => b.domains - a.domains);
  const data = most.slice(0, MOST).map(({ provider, domains }) => ({ provider: labelOf(provider), domains }));
  if (data.length === 0) return null;
  return (
    <Section title={t('chart.providers')}>
      <figure
        className={classes.chart}
        aria-label={data.map(({ provider, domains }) => `${provider}: ${domains}`).join(', ')}
      >
        <BarChart
          h={ROW_PX * data.length + 34}
          data={data}
          dataKey="provider"
          orientation="vertical"
          series={[{ name: 'domains', label: t('chart.domains'), color: 'petrol.6' }]}
          gridAxis="none"
          tickLine="none"
          maxBarWidth={14}
          yAxisProps={{ width: 165 }}
          xAxisProps={{ allowDecimals: false }}
          barProps={{ isAnimationActive: false }}
          barChartProps={{ accessibilityLayer: false }}
        />
      </figure>
    </Section>
  );
}
