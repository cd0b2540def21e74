import { Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Capabilities } from './capabilities';
import { type Fields, secondsOf } from './fields';
import classes from './zone.module.css';

interface Props {
  count: number;
  /** as many as the filter finds; null: too many to be chosen */
  all: number | null;
  capabilities: Capabilities;
  onAll: () => void;
  onNone: () => void;
  onChange: (change: Partial<Fields>) => void;
  onDelete: () => void;
}

/** What can be done with the chosen records: all of it goes to the tray. */
export function BulkBar({ count, all, capabilities: can, onAll, onNone, onChange, onDelete }: Props) {
  const { t } = useTranslation('zone');
  const [ttl, setTtl] = useState('');
  const [error, setError] = useState('');
  const setAll = (event: FormEvent) => {
    event.preventDefault();
    const seconds = secondsOf(ttl);
    if (seconds === null || seconds < can.min_ttl || seconds > can.max_ttl)
      return setError(t('problem.range', { min: can.min_ttl, max: can.max_ttl }));
    setError('');
    onChange({ ttl: seconds });
  };
  return (
    <Group component="section" gap="sm" className={classes.bulk} aria-label={t('common:chosen', { count })}>
      <Text fz="sm" role="status">
        {t('common:chosen', { count })}
      </Text>
      {all !== null && all > count && (
        <Button variant="subtle" onClick={onAll}>
          {t('bulk.all', { count: all })}
        </Button>
      )}
      <form onSubmit={setAll} noValidate>
        <Group gap="xs" align="flex-start">
          <TextInput
            size="xs"
            w={96}
            aria-label={t('bulk.ttl')}
            placeholder={t('form.ttl')}
            value={ttl}
            error={error}
            onChange={(event) => setTtl(event.currentTarget.value)}
          />
          <Button type="submit" variant="default">
            {t('bulk.setTtl')}
          </Button>
        </Group>
      </form>
      <Button variant="default" onClick={() => onChange({ enabled: false })}>
        {t('bulk.disable')}
      </Button>
      <Button variant="default" onClick={() => onChange({ enabled: true })}>
        {t('bulk.enable')}
      </Button>
      {can.proxy && (
        <>
          <Button variant="default" onClick={() => onChange({ proxied: true })}>
            {t('bulk.proxy')}
          </Button>
          <Button variant="default" onClick={() => onChange({ proxied: false })}>
            {t('bulk.noProxy')}
          </Button>
        </>
      )}
      <Button variant="default" onClick={onDelete}>
        {t('bulk.delete')}
      </Button>
      <Button variant="subtle" onClick={onNone}>
        {t('bulk.none')}
      </Button>
    </Group>
  );
}
