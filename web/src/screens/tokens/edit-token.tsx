import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { type Tagged, useTagged } from '~/api/tagged';
import { changed } from '~/components/changed';
import { FormEnd, useApiForm } from '~/components/form';
import { Loaded } from '~/components/state-block';
import { Theirs } from '~/components/theirs';
import { useMe } from '~/session/session';
import { type Token, widenings } from './token-draft';
import { limitsOf, rulesOf, TokenFields, type TokenValues, valuesOf } from './token-form';
import classes from './tokens.module.css';

interface Values extends TokenValues {
  max_role: string;
}

interface Props {
  id: number;
  /** names of domains that it may have */
  known: { id: number; name: string }[];
  onClose: () => void;
}

const bodyOf = (values: Values) => ({
  ...limitsOf(values),
  rules: values.kind === 'rules' ? rulesOf(values) : null,
  max_role: Number(values.max_role) as Token['max_role'],
});

/** Changes a token, and says what of the change lets it do more. Its secret stays. */
export function EditToken({ id, ...rest }: Props) {
  const params = { path: { id } };
  const query = useTagged<Token>(['get', '/api/tokens/{id}', { params }, 'tagged'], (signal) =>
    client.GET('/api/tokens/{id}', { params, signal }),
  );
  return (
    <Loaded query={query}>
      {(tagged) => (
        <>
          <Theirs of={tagged} />
          <Form key={tagged.generation} tagged={tagged} {...rest} />
        </>
      )}
    </Loaded>
  );
}

function Form({ tagged, known, onClose }: Omit<Props, 'id'> & { tagged: Tagged<Token> }) {
  const { value: token, save } = tagged;
  const { t } = useTranslation('tokens');
  const { role } = useMe();
  const roles = ([1, 2, 3] as const).filter((rank) => rank <= Math.max(role, token.max_role));
  const [filled] = useState<Values>(() => ({ ...valuesOf(token), max_role: String(token.max_role) }));
  const changesOf = (values: Values) => changed(bodyOf(values), bodyOf(filled));
  const { form, onSubmit, busy, problem } = useApiForm<Values>({
    initialValues: filled,
    save: async (values) => {
      const params = { path: { id: token.id } };
      await save((headers) => client.PUT('/api/tokens/{id}', { params, headers, body: changesOf(values) }));
      await invalidate('/api/tokens');
      onClose();
    },
  });
  const wider = widenings(token, { ...token, ...changesOf(form.values) });
  return (
    <form onSubmit={onSubmit} className={classes.form}>
      <TokenFields form={form as never} kinds={['rules', 'all']} known={known} />
      <Select
        label={t('role')}
        description={t('roleHint')}
        data={roles.map((rank) => ({ value: String(rank), label: t(`common:role.${rank}`) }))}
        allowDeselect={false}
        maw={460}
        {...form.getInputProps('max_role')}
      />
      <div role="status">
        {wider.length > 0 && (
          <div className={classes.widens}>
            {t('widens')}
            <ul>
              {wider.map((what) => (
                <li key={what}>{t(`wider.${what}`)}</li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <FormEnd busy={busy} problem={problem} verb={t('common:save')}>
        <Button variant="default" onClick={onClose}>
          {t('common:cancel')}
        </Button>
      </FormEnd>
    </form>
  );
}
