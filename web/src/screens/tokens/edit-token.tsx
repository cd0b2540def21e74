import { Button, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { FormEnd, useApiForm } from '~/components/form';
import { useMe } from '~/session/session';
import { type Token, widenings } from './token-draft';
import { limitsOf, rulesOf, TokenFields, type TokenValues, valuesOf } from './token-form';
import classes from './tokens.module.css';

interface Values extends TokenValues {
  max_role: string;
}

interface Props {
  token: Token;
  /** names of domains that it may have */
  known: { id: number; name: string }[];
  onClose: () => void;
}

/** Changes a token, and says what of the change lets it do more. Its secret stays. */
export function EditToken({ token, known, onClose }: Props) {
  const { t } = useTranslation('tokens');
  const { role } = useMe();
  const roles = ([1, 2, 3] as const).filter((rank) => rank <= Math.max(role, token.max_role));
  const afterOf = (values: Values) => ({
    ...limitsOf(values),
    rules: values.kind === 'rules' ? rulesOf(values) : null,
    max_role: Number(values.max_role) as Token['max_role'],
  });
  const { form, onSubmit, busy, problem } = useApiForm<Values>({
    initialValues: { ...valuesOf(token), max_role: String(token.max_role) },
    save: async (values) => {
      await client.PUT('/api/tokens/{id}', { params: { path: { id: token.id } }, body: afterOf(values) });
      await invalidate('/api/tokens');
      onClose();
    },
  });
  const wider = widenings(token, afterOf(form.values));
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
