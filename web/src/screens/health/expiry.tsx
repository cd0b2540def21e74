import { useTranslation } from 'react-i18next';
import type { components } from '~/api/schema';
import { Facts } from '~/components/rows';
import { Section } from '~/components/screen';
import { type Meaning, Status } from '~/components/status';
import { Time } from '~/components/time';

type Domain = components['schemas']['DomainDetail'];

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** How near an end is. */
export function nearness(end: string): Meaning {
  const days = (Date.parse(end) - Date.now()) / DAY_MS;
  return days < 0 ? 'bad' : days < SOON_DAYS ? 'warn' : 'good';
}

/** When the registration ends. */
export function Expiry({ domain }: { domain: Domain }) {
  const { t } = useTranslation('health');
  const { expires_at: end, expires_source: source, expires_checked_at: checked, expiry_error: error } = domain;
  return (
    <Section title={t('expiry.title')}>
      <Facts
        of={[
          [
            t('expiry.ends'),
            end ? (
              <Status key="end" is={nearness(end)}>
                <Time iso={end} /> (<Time iso={end} exact />)
              </Status>
            ) : (
              <Status key="end" is="off">
                {t('expiry.unknown')}
              </Status>
            ),
          ],
          [t('expiry.source'), source && t(`expiry.from.${source}`)],
          [t('expiry.checked'), checked && <Time key="checked" iso={checked} />],
          [t('expiry.error'), error],
        ]}
      />
    </Section>
  );
}
