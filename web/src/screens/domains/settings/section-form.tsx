import { Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FormEnd } from '~/components/form';
import { Section } from '~/components/screen';

interface Props {
  title: string;
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  busy: boolean;
  problem: unknown;
  /** without it there is nothing to be saved with */
  maySave: boolean;
  children: ReactNode;
}

/** A part of the settings that is saved by itself. */
export function SectionForm({ title, onSubmit, busy, problem, maySave, children }: Props) {
  const { t } = useTranslation('domains');
  return (
    <Section title={title}>
      <form onSubmit={onSubmit} aria-label={title} noValidate>
        <Stack gap="sm">{children}</Stack>
        {maySave && <FormEnd busy={busy} problem={problem} verb={t('save')} />}
      </form>
    </Section>
  );
}
