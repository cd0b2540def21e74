import { Anchor, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import { $api } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { DoorSection } from './door-section';
import { Snippet } from './snippet';

const AUTH = '-H "Authorization: Bearer $ZONEWARD_TOKEN"';
const JSON_TYPE = '-H "Content-Type: application/json"';

/** Calls that work as they stand, with a token in `$ZONEWARD_TOKEN`. Domains may be named instead of numbered. */
const snippetsAt = (base: string) => ({
  self: `curl ${AUTH} ${base}/api/tokens/self`,
  read: `curl ${AUTH} "${base}/api/domains/example.com/records?type=A"`,
  add: `curl -X POST ${AUTH} ${JSON_TYPE} \\
  -d '{"host": "www", "type": "A", "value": "192.0.2.7", "ttl": 300}' \\
  ${base}/api/domains/example.com/records`,
});

/** Ways in for other programs: the doors that the service lists, and the API itself. */
export function DoorsScreen() {
  const { t } = useTranslation('doors');
  const doors = $api.useQuery('get', '/api/doors');
  return (
    <Screen title={t('title')} about={t('about')}>
      <Text fz="sm" maw="70ch">
        {t('tokenText')}{' '}
        <AppLink to="/tokens" search={{ token: 'new' }} fz="sm" underline="always">
          {t('makeToken')}
        </AppLink>
      </Text>
      <Loaded query={doors} lines={12}>
        {(list) => list.map((door) => <DoorSection key={door.key} door={door} />)}
      </Loaded>
      <Section title={t('api')}>
        <Text fz="sm" maw="70ch" mb="sm">
          {t('apiText')} {t('description')}{' '}
          <Anchor href={`${BASE}/api/docs`} target="_blank" rel="noopener" fz="sm" underline="always">
            {BASE}/api/docs
          </Anchor>
        </Text>
        {Object.entries(snippetsAt(BASE)).map(([name, call]) => (
          <div key={name}>
            <Text fz="sm" mt="xs" mb={4}>
              {t(`snippet.${name}`)}
            </Text>
            <Snippet text={call} label={t(`snippet.${name}`)} />
          </div>
        ))}
      </Section>
    </Screen>
  );
}
