import { Code, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Copy } from '~/components/copy';
import classes from './doors.module.css';

/** Text that is pasted elsewhere as it stands. */
export function Snippet({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation('doors');
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" maw={860}>
      <Code block className={classes.snippet} aria-label={label}>
        {text}
      </Code>
      <Copy text={text} label={t('copyOf', { what: label })} />
    </Group>
  );
}
