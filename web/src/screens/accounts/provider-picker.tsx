import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { Empty } from '~/components/state-block';
import classes from './accounts.module.css';
import { found, type Provider } from './providers';

/** All kinds of providers, found by typing. */
export function ProviderPicker({ providers }: { providers: readonly Provider[] }) {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const shown = found(providers, text);
  const onKey = (event: KeyboardEvent) => {
    const [first] = shown;
    if (event.key === 'Enter' && text && first)
      void navigate({ to: '/accounts', search: { add: first.kind } as never });
  };
  return (
    <>
      <TextInput
        label={t('add.search')}
        description={t('add.searchHint', { count: providers.length })}
        type="search"
        maw={420}
        data-search
        autoFocus
        leftSection={<IconSearch size={14} stroke={1.6} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      {shown.length === 0 ? (
        <Empty title={t('common:nothingFound')} text={t('add.unknown')} />
      ) : (
        <ul className={classes.kinds} aria-label={t('add.kinds')}>
          {shown.map(({ kind, label, capabilities }) => (
            <li key={kind}>
              <AppLink to="/accounts" search={{ add: kind }} className={classes.kind ?? ''} underline="never">
                <b>{label}</b>
                <span>{t('add.kindHint', { count: capabilities.types.length })}</span>
              </AppLink>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
