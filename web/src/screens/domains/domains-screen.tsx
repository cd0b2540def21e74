import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Screen } from '~/components/screen';
import { useUrlState } from '~/state/use-url-state';
import { AddDomain } from './add-domain';
import { DomainList } from './domain-list';
import { DomainTrash } from './domain-trash';

/** All domains that one may read; with `?trash=` those that were deleted. */
export function DomainsScreen() {
  const { t } = useTranslation('domains');
  const [{ trash }, set] = useUrlState({ trash: '' });
  const [isAdding, setAdding] = useState(false);
  if (trash)
    return (
      <Screen title={t('trash.title')} crumbs={[{ label: t('title'), to: '/domains' }]} about={t('trash.about')}>
        <DomainTrash />
      </Screen>
    );
  return (
    <Screen
      title={t('title')}
      actions={
        <>
          <Button onClick={() => setAdding(true)}>{t('add.verb')}</Button>
          <Button variant="default" onClick={() => set({ trash: 'true' })}>
            {t('trash.title')}
          </Button>
        </>
      }
    >
      <DomainList onAdd={() => setAdding(true)} />
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </Screen>
  );
}
