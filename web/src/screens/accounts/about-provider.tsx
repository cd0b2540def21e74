import { Anchor, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Copy } from '~/components/copy';
import { Facts } from '~/components/rows';
import type { Provider } from './providers';

/** Where the key is made, and what it needs to be allowed. */
export function AboutProvider({ provider: { docs, guide, label } }: { provider: Provider }) {
  const { t } = useTranslation('accounts');
  return (
    <div>
      <Text fw={600} fz="sm">
        {t('key.title')}
      </Text>
      <Text fz="sm">{t('key.text')}</Text>
      <Text fz="sm" mt={4} component="div">
        {t('key.guide')} <span className="zw-mono">{guide}</span> <Copy text={guide} label={t('key.copyGuide')} />
      </Text>
      <Anchor href={docs} target="_blank" rel="noreferrer" fz="sm">
        {t('key.docs', { label })} <IconExternalLink size={13} stroke={1.6} aria-hidden />
      </Anchor>
    </div>
  );
}

/** What can be done with the zones of a provider, before anything is typed. */
export function Capabilities({ provider: { capabilities } }: { provider: Provider }) {
  const { t, i18n } = useTranslation('accounts');
  const list = new Intl.ListFormat(i18n.language);
  const { types, granularity, min_ttl, max_ttl, lines, chunk } = capabilities;
  const can = (
    ['toggle', 'proxy', 'weight', 'remark', 'apex_cname', 'create_zone', 'atomic', 'tunnels'] as const
  ).filter((key) => capabilities[key]);
  return (
    <Facts
      of={[
        [
          t('can.types'),
          <span key="types" className="zw-mono">
            {types.join(' ')}
          </span>,
        ],
        [t('can.title'), can.length ? list.format(can.map((key) => t(`can.${key}`))) : t('can.nothing')],
        [t('can.ttl'), `${t('can.ttlRange', { min: min_ttl, max: max_ttl })} ${t(`can.per.${granularity}`)}`],
        [t('can.lines'), lines.length > 1 && t('can.lineCount', { count: lines.length })],
        [t('can.chunk'), t('can.chunkText', { count: chunk })],
      ]}
    />
  );
}
