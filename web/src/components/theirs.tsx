import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Tagged } from '~/api/tagged';
import { differenceOf } from './difference';
import classes from './theirs.module.css';

const SHOWN = 20;

/** What somebody else has saved while a form was filled in, beside what was typed; and the choice. */
export function Theirs<V>({ of: { value, theirs, take, keep } }: { of: Tagged<V> }) {
  const { t } = useTranslation('common');
  if (theirs === null) return null;
  const fields = differenceOf(value, theirs).filter(({ before, after }) => before !== after);
  return (
    <div className={classes.theirs} role="status">
      <Text fz="sm">{t('theirs.text')}</Text>
      <dl>
        {fields.slice(0, SHOWN).flatMap(({ path, before, after }) => [
          <dt key={path}>{path}</dt>,
          <dd key={`${path}=`}>
            <del>{before ?? '–'}</del> <span aria-hidden>→</span> <ins>{after ?? '–'}</ins>
          </dd>,
        ])}
      </dl>
      <Group gap="sm" mt="xs">
        <Button variant="default" size="compact-sm" onClick={() => void keep()}>
          {t('theirs.keep')}
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={take}>
          {t('theirs.take')}
        </Button>
      </Group>
    </div>
  );
}
