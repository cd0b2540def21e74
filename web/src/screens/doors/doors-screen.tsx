import { Anchor, Code, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BASE } from '~/api/client';
import { AppLink } from '~/components/app-link';
import { Copy } from '~/components/copy';
import { Screen, Section } from '~/components/screen';

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

/** Ways in for other programs: what works today is the API, with a token. */
export function DoorsScreen() {
  const { t } = useTranslation('doors');
  return (
    <Screen title={t('title')} about={t('about')}>
      <Section title={t('api')}>
        <Text fz="sm" maw="70ch">
          {t('apiText')}{' '}
          <AppLink to="/tokens" search={{ token: 'new' }} fz="sm" underline="always">
            {t('makeToken')}
          </AppLink>
        </Text>
        <Text fz="sm" maw="70ch" mt="sm">
          {t('description')}{' '}
          <Anchor href={`${BASE}/api/docs`} target="_blank" rel="noopener" fz="sm" underline="always">
            {BASE}/api/docs
          </Anchor>
        </Text>
      </Section>
      {Object.entries(snippetsAt(BASE)).map(([name, call]) => (
        <Section key={name} title={t(`snippet.${name}`)}>
          <Group gap="xs" wrap="nowrap" align="flex-start" maw={860}>
            <Code
              block
              style={{ flex: 1, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
              aria-label={t(`snippet.${name}`)}
            >
              {call}
            </Code>
            <Copy text={call} label={t('copyCall', { what: t(`snippet.${name}`) })} />
          </Group>
        </Section>
      ))}
    </Screen>
  );
}
